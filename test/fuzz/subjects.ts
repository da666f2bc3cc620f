import path from 'node:path';
import type { Subject } from './subject';
import * as classic from './subjects/classic';
import * as classicCalls from './subjects/classicCalls';
import * as clientAnswers from './subjects/clientAnswers';
import * as emulators from './subjects/emulators';
import * as files from './subjects/files';
import * as frames from './subjects/frames';
import * as hubMessages from './subjects/hubMessages';
import * as panels from './subjects/panels';
import * as polls from './subjects/polls';
import * as replays from './subjects/replays';
import * as runningServers from './subjects/runningServers';
import * as services from './subjects/services';

const registries = {
  ...{ frames, hubMessages, classicCalls, classic, clientAnswers, polls, services, emulators },
  ...{ files, replays, panels, runningServers },
};

const isSubject = (value: unknown): value is Subject =>
  typeof value === 'object' && value !== null && 'check' in value;

/** Everything that reads what others send, each with the module that a worker loads for it. */
export const subjects = Object.entries<object>(registries).flatMap(([name, exported]) =>
  Object.values(exported)
    .filter(isSubject)
    .map((subject) => ({ ...subject, registry: path.join(__dirname, 'subjects', `${name}.js`) })),
);
