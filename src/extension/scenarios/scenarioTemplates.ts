import { startingFile } from '../../capacity/start/startingFile';
import { useCases } from '../../usecases/registry';
import type { UseCase } from '../../usecases/useCase';

/** A scenario to begin with. */
export interface ScenarioTemplate {
  readonly useCase: UseCase;
  /** File name to propose. */
  readonly fileName: string;
  readonly text: string;
}

/** Templates for every use case, in the order people are shown them. */
export function scenarioTemplates(): ScenarioTemplate[] {
  return useCases.map((useCase) => ({
    useCase,
    fileName: `${useCase.name}.signalr.yaml`,
    text: templateText(useCase),
  }));
}

const connections = 200;

/** A small load for any machine; groups of ten are the small group of the performance guides. */
function templateText(useCase: UseCase): string {
  return startingFile(useCase, {
    service: useCase.services.includes('hub') ? 'hub' : 'signalr',
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
