import type { KeySpec } from '../../scenario/keys/keySpec';
import { allParameters } from '../../scenario/keys/allParameters';
import { topKeys } from '../../scenario/keys/scenarioKeys';
import { childOf, plainValue, type OutlineNode } from '../../scenario/text/outline';
import { findUseCase } from '../../usecases/registry';
import { usualUseCase, type UseCase } from '../../usecases/useCase';

/** The keys that may stand below a node; undefined where none are known. */
export function keysBelow(node: OutlineNode): readonly KeySpec[] | undefined {
  if (node.parent === undefined) return topKeys;
  if (node.item) {
    const list = specOf(node.parent);
    return list?.type === 'entries' ? list.keys : undefined;
  }
  const spec = specOf(node);
  if (spec?.type === 'section') return spec.keys;
  if (spec?.type !== 'parameters') return undefined;
  const named = nameNode(node);
  const useCase = useCaseOf(node.parent);
  if (useCase !== undefined) return useCase.parameters;
  return named === undefined ? [] : [...allParameters.values()].map(({ spec: one }) => one);
}

/** The description of the key; of a list item that of its list. */
export function specOf(node: OutlineNode): KeySpec | undefined {
  if (node.parent === undefined) return undefined;
  if (node.item) return specOf(node.parent);
  return keysBelow(node.parent)?.find(({ name }) => name === node.name);
}

/** The use case that a `scenario` or an entry of `scenarios` names; the usual one when it names none. */
export function useCaseOf(entry: OutlineNode): UseCase | undefined {
  return findUseCase(plainValue(childOf(entry, 'name')) ?? usualUseCase);
}

const nameNode = (parameters: OutlineNode): OutlineNode | undefined =>
  parameters.parent === undefined ? undefined : childOf(parameters.parent, 'name');

/** Outline nodes of the scenario's entries, in their order. */
export function entryNodes(root: OutlineNode): OutlineNode[] {
  const single = childOf(root, 'scenario');
  const mix = childOf(root, 'scenarios')?.children.filter(({ item }) => item) ?? [];
  return mix.length > 0 ? mix : single === undefined ? [] : [single];
}
