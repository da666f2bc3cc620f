/** Scenarios to begin with, for an empty file. */
import { defaultService } from '../../base/serviceTraits';
import type { Translate } from '../../base/text';
import { presetOf, startingFile } from '../../capacity/start/preset';
import { useCases } from '../../usecases/registry';
import { runsOnHub, type UseCase } from '../../usecases/useCase';

const connections = 200;

/** A small load for any machine; groups of ten are the small group of the performance guides. */
export function templateText(useCase: UseCase): string {
  return startingFile(useCase, {
    service: runsOnHub(useCase) ? 'hub' : defaultService,
    connections,
    arrivingRate: connections,
    baseSending: connections / 2,
    // Where who does not send is to move, there is one step.
    step: useCase.run.othersMove === true ? 0 : connections / 2,
    groupCount: connections / 10,
    singleStepDuration: '15s',
    warmup: '2s',
    comments: [],
  });
}

/** Sizes offered; `signalr-bench init` knows all of them. */
const units = [1, 10, 100];

const templates = () =>
  useCases.map((useCase) => ({
    label: useCase.name,
    insert: templateText(useCase),
    documentation: useCase.summary,
  }));
const guidePresets = () =>
  useCases
    .filter(({ inGuides }) => inGuides === true)
    .flatMap((useCase) =>
      units.map((unit) => ({
        label: `${useCase.name}, Unit ${unit}`,
        insert: presetOf(useCase, { service: defaultService, unit }).text,
        documentation: useCase.summary,
      })),
    );
/** Made once: finding the senders of a size takes some estimates. */
let presets: ReturnType<typeof guidePresets> | undefined;

export function wholeScenarios(t: Translate) {
  presets ??= guidePresets();
  return [
    ...templates().map((each) => ({ ...each, detail: t('A whole scenario') })),
    ...presets.map((each) => ({ ...each, detail: t('Set-up of the performance guides') })),
  ];
}
