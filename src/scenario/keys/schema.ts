import { durationPattern, ratePattern, sizePattern } from '../../base/units';
import { useCases } from '../../usecases/registry';
import type { UseCase } from '../../usecases/useCase';
import { targetPatterns } from '../target/targetKinds';
import { hubUrlPattern } from '../target/hubUrl';
import {
  headerNamePattern,
  isScalarSpec,
  withoutDefault,
  type KeySpec,
  type PlainSpec,
} from './keySpec';
import { mostDurations, mostSteps } from '../../usecases/sessionSteps';
import { formatNumber } from '../text/words';
import { stepKeys, stepKinds, type StepKind } from './stepKeys';
import { allParameters, maximumEntries, maximumRules, pipelineKeys, topKeys } from './scenarioKeys';

type Json = Readonly<Record<string, unknown>>;

/** Draft-07, for editors without our extension. */
export function scenarioSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'SignalR benchmark scenario',
    ...withPipelines(sectionSchema(topKeys)),
    definitions: {
      ...Object.fromEntries(
        [...allParameters].map(([name, { spec }]) => [definitionOf(name), keySchema(spec)]),
      ),
      [byUseCase]: { allOf: useCases.map(parametersOf) },
      [oneStep]: stepSchema(),
      ...ruleSchemas(),
    },
  };
}

function withPipelines(section: Json): Json {
  const { mode, ...properties } = section['properties'] as Record<string, Json>;
  const pipeline: Readonly<Record<string, Json>> = {
    ModuleName: { description: 'Plugin of the Azure SignalR benchmark; any is taken.' },
    Types: { description: 'Names of the use cases of the Azure SignalR benchmark; not needed.' },
    Pipeline: {
      description:
        'Steps of a pipeline file of the Azure SignalR benchmark, each a list of methods.',
      type: 'array',
      minItems: 1,
    },
  };
  const needed = pipelineKeys.filter((key) => key !== 'Pipeline');
  return {
    ...section,
    properties: { mode: { description: mode!['description'] }, ...properties, ...pipeline },
    dependencies: Object.fromEntries(needed.map((key) => [key, ['Pipeline']])),
    // A pipeline has a mode of its own, or none.
    if: { properties: { Pipeline: {} }, required: ['Pipeline'] },
    then: {},
    else: { properties: { mode } },
  };
}

const byUseCase = 'parametersByUseCase';
const oneStep = 'sessionStep';
const definitionOf = (parameter: string): string => `parameter-${parameter}`;
const refTo = (definition: string): Json => ({ $ref: `#/definitions/${definition}` });

function sectionSchema(keys: readonly KeySpec[]): Json {
  const required = keys.filter((spec) => spec.required === true).map((spec) => spec.name);
  const isEntry = keys.some((spec) => spec.type === 'useCase');
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(keys.map((spec) => [spec.name, keySchema(spec)])),
    ...(isEntry ? { allOf: [refTo(byUseCase)] } : {}),
  };
}

const keySchema = (spec: KeySpec): Json => ({
  description: keyDescription(spec),
  ...valueSchema(spec),
});

export function keyDescription(spec: KeySpec): string {
  const fixed =
    typeof spec.default === 'number'
      ? formatNumber(spec.type as 'count', spec.default)
      : spec.default;
  const fallback = fixed ?? spec.defaultText;
  const sentences = [
    spec.summary,
    ...(fallback === undefined ? [] : [`Default: ${String(fallback)}.`]),
    ...(spec.seedNote === undefined ? [] : [spec.seedNote]),
  ];
  return sentences.join(' ');
}

function valueSchema(spec: KeySpec): Json {
  if (isScalarSpec(spec)) {
    const plain = plainSchema(spec);
    if (spec.several !== undefined) return orSeveral(spec, plain);
    if (spec.keys === undefined) return plain;
    return { anyOf: [...((plain['anyOf'] as Json[] | undefined) ?? [plain]), refTo(ruleOf(spec))] };
  }
  switch (spec.type) {
    case 'section':
      return orNothing(sectionOrList(spec));
    case 'entries':
      return {
        type: 'array',
        minItems: 1,
        maxItems: spec.most ?? maximumEntries,
        items: sectionSchema(spec.keys ?? []),
      };
    case 'targets':
      return targetsSchema(spec.name === 'target');
    case 'metric': {
      const names = (topKeys.find(({ name }) => name === 'slo')?.keys ?? []).map(
        ({ name }) => name,
      );
      const patterns = topKeys.flatMap(({ namedAs = [] }) => namedAs);
      return { anyOf: [{ enum: names }, ...patterns.map(({ pattern }) => text(`^${pattern}$`))] };
    }
    case 'limit':
      return { anyOf: [{ type: 'number', minimum: 0 }, text('^[0-9]')] };
    case 'texts':
      return orNothing({
        type: 'object',
        maxProperties: 100,
        ...(spec.name === 'headers' ? { propertyNames: { pattern: headerNamePattern } } : {}),
        additionalProperties: {
          anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
        },
      });
    case 'list':
      return orNothing({ type: 'array' });
    case 'steps':
      return { type: 'array', minItems: 1, maxItems: mostSteps, items: refTo(oneStep) };
    case 'value':
      return { anyOf: ['string', 'number', 'boolean', 'null'].map((type) => ({ type })) };
    case 'values':
      return orNothing({ type: 'object' });
    case 'senders':
      return {
        anyOf: [...numberSchemas({ ...spec, type: 'count' }), text(unitPatterns.get('share')!)],
      };
    case 'useCase': {
      const names = useCases.flatMap(({ name, aliases }) => [name, ...aliases]);
      return { default: spec.default, anyOf: [{ enum: names }, text(anyOfWords(names))] };
    }
    case 'parameters':
      return orNothing({
        type: 'object',
        additionalProperties: false,
        // A parameter of another use case is only a warning.
        properties: Object.fromEntries(
          [...allParameters].map(([name, { spec: parameter }]) => [
            name,
            { description: keyDescription(parameter) },
          ]),
        ),
      });
    default:
      throw new Error(`no schema for a ${spec.type}`);
  }
}

const stepSchema = (): Json => {
  const isKind = (kind: StepKind): Json => ({ properties: { [kind]: {} }, required: [kind] });
  return {
    type: 'object',
    anyOf: stepKinds.map(isKind),
    allOf: stepKinds.map((kind) => ({ if: isKind(kind), then: sectionSchema(stepKeys[kind]) })),
  };
};

const ruleOf = ({ type }: KeySpec): string => `objective-${type}`;

/** Objectives with the same unit have the same schema. */
function ruleSchemas(): Record<string, Json> {
  const keys = topKeys.flatMap((section) => section.keys ?? []).filter(isScalarSpec);
  return Object.fromEntries(
    keys.flatMap((spec) => {
      if (spec.keys === undefined) return [];
      const [limit, ...others] = spec.keys;
      const any = { ...withoutDefault(limit!), summary: 'The limit of the objective.' };
      return [[ruleOf(spec), sectionSchema([any, ...others])]];
    }),
  );
}

function sectionOrList({ keys = [], named, namedAs = [], items, rows }: KeySpec): Json {
  const { additionalProperties, ...section } = sectionSchema(keys);
  const listedNames = keys.map(({ name }) => name.replaceAll('.', '\\.')).join('|');
  const patternProperties = Object.fromEntries(
    namedAs.flatMap(({ pattern, example }) => {
      const spec = named?.(example);
      if (spec === undefined) return [];
      return [[`^(?!(?:${listedNames})$)${pattern}$`, valueSchema(withoutDefault(spec))]];
    }),
  );
  const more = namedAs.length === 0 ? {} : { patternProperties };
  const map = { ...section, ...more, additionalProperties };
  if (rows === true) {
    const row = { type: 'object', minProperties: 1 };
    return { anyOf: [map, { type: 'array', minItems: 1, items: row }] };
  }
  if (items === undefined) return map;
  const list = { type: 'array', minItems: 1, maxItems: maximumRules, items: sectionSchema(items) };
  return { anyOf: [map, list] };
}

/** Sections may be written without anything below them. */
const orNothing = ({ anyOf = [], ...schema }: Json): Json => ({
  anyOf: [...((anyOf as Json[]).length > 0 ? (anyOf as Json[]) : [schema]), { type: 'null' }],
});

function orSeveral(spec: PlainSpec, one: Json): Json {
  const items = { anyOf: numberSchemas({ ...spec, minimum: 0 }) };
  const list = { type: 'array', minItems: 1, maxItems: mostDurations, items };
  return { ...one, anyOf: [...(one['anyOf'] as Json[]), list] };
}

const text = (pattern: string): Json => ({ type: 'string', pattern });

function plainSchema(spec: PlainSpec): Json {
  const fallback = spec.default === undefined ? {} : { default: spec.default };
  switch (spec.type) {
    case 'flag':
      return { ...fallback, type: 'boolean' };
    case 'text':
      return { ...fallback, type: 'string', pattern: spec.pattern ?? textPattern(spec) };
    case 'choice': {
      const choices = spec.choices ?? [];
      return { ...fallback, anyOf: [{ enum: choices }, text(anyOfWords(choices))] };
    }
    default:
      return { ...fallback, anyOf: numberSchemas(spec) };
  }
}

/** Not empty; `${` is an error where references are not replaced. */
const textPattern = (spec: PlainSpec): string =>
  spec.references === true ? '\\S' : '^(?![^]*\\$\\{)[^]*\\S';

const unitPatterns = new Map<string, string>([
  ['duration', durationPattern],
  ['size', sizePattern],
  ['share', '^([0-9]{1,2}(\\.[0-9]+)?|100(\\.0+)?)\\s*%$'],
  ['rate', ratePattern],
]);

/** A bare number within the bounds, a number in quotes, a number with its unit. */
function numberSchemas(spec: PlainSpec): Json[] {
  const { minimum, maximum } = spec;
  const whole = spec.type === 'count' || spec.type === 'size';
  const withUnit = unitPatterns.get(spec.type);
  const quoted =
    spec.type === 'share'
      ? '(0|1|0\\.[0-9]{1,20}|1\\.0{1,20})'
      : whole
        ? '[0-9]{1,20}'
        : '[0-9]{1,20}(\\.[0-9]{1,20})?';
  const notZero = minimum !== undefined && minimum > 0 ? '(?!0+(\\.0+)?$)' : '';
  return [
    {
      type: whole ? 'integer' : 'number',
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
    },
    text(`^${notZero}${quoted}$`),
    ...(withUnit === undefined ? [] : [text(withUnit)]),
  ];
}

function targetsSchema(localToo: boolean): Json {
  const urls = text(`^\\s*,*\\s*${hubUrlPattern}(\\s*,\\s*${hubUrlPattern})*\\s*,*\\s*$`);
  const one = localToo ? [...targetPatterns.map(text), urls] : [urls];
  return {
    anyOf: [...one, { type: 'array', minItems: 1, items: localToo ? { anyOf: one } : urls }],
  };
}

function anyOfWords(words: readonly string[]): string {
  const alternatives = words.map((word) =>
    Array.from(word, (letter) => {
      const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
      return lower === upper ? letter : `[${lower}${upper}]`;
    }).join(''),
  );
  return `^(?:${alternatives.join('|')})$`;
}

function parametersOf(useCase: UseCase): Json {
  const required = useCase.parameters
    .filter((spec) => spec.required === true)
    .map((spec) => spec.name);
  const names = text(anyOfWords([useCase.name, ...useCase.aliases]));
  const isDefault = useCase === useCases[0];
  return {
    if: { ...(isDefault ? {} : { required: ['name'] }), properties: { name: names } },
    then: {
      ...(required.length === 0 ? {} : { required: ['parameters'] }),
      properties: {
        parameters: {
          ...(required.length === 0 ? {} : { type: 'object', required }),
          properties: Object.fromEntries(
            useCase.parameters.map(({ name }) => [name, refTo(definitionOf(name))]),
          ),
        },
      },
    },
  };
}
