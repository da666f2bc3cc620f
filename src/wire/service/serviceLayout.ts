import type { FieldName, ServiceTypeNumber } from './serviceMessage';

/**
 * How a field stands on the wire.
 *
 * `text` reads nil as empty; `textOrNil` keeps the difference; `onDemandTarget` is empty but for on-demand
 * connections; `enum32` is an integer in five bytes; `binOrNil` and `boolIfGiven` are left out when
 * undefined; `restTexts` are all elements to the end.
 */
export type FieldKind =
  | 'text'
  | 'textOrNil'
  | 'onDemandTarget'
  | 'int'
  | 'intOrNil'
  | 'flowEnum'
  | 'boolIfGiven'
  | 'bin'
  | 'binIfGiven'
  | 'texts'
  | 'restTexts'
  | 'payloads'
  | 'claims'
  | 'headers';

/** Members of the map that closes most messages, by their key there. */
export const extensionFields = {
  1: 'tracingId',
  2: 'ttl',
  3: 'protocol',
  4: 'filter',
  5: 'dataType',
  6: 'isPartial',
} as const;
export type ExtensionKey = keyof typeof extensionFields;

interface Field<Name> {
  readonly name: Name;
  readonly kind: FieldKind;
  /** Read only from arrays of so many elements at least; without it the field must be there. */
  readonly from: number | undefined;
}

interface Extension {
  readonly extension: readonly ExtensionKey[];
  readonly from: number | undefined;
}

/** One element of a message's array. */
export type Element<Name = string> = Field<Name> | Extension;

function field<Name extends string>(name: Name, kind: FieldKind, from?: number): Field<Name> {
  return { name, kind, from };
}

/** The map of a message, with the keys that this type may carry there. */
function ext(from: number, ...extension: ExtensionKey[]): Extension {
  return { extension, from };
}

const connectionId = field('connectionId', 'text');
const groupName = field('groupName', 'text');
const userId = field('userId', 'text');
const ackId = field('ackId', 'int');
const payloads = field('payloads', 'payloads');
const reason = field('reason', 'textOrNil');
const excluded = field('excludedConnectionIds', 'texts');
const invocation = [field('invocationId', 'text'), connectionId, field('callerServerId', 'text')];

/** The elements behind the type number, in wire order. */
export const serviceLayouts: {
  readonly [Type in ServiceTypeNumber]: readonly Element<FieldName<Type>>[];
} = {
  1: [
    field('version', 'int'),
    field('connectionType', 'int', 4),
    field('target', 'onDemandTarget', 4),
    field('migrationLevel', 'int', 5),
    ext(6),
    field('allowStatefulReconnects', 'boolIfGiven', 7),
  ],
  2: [field('errorMessage', 'textOrNil'), ext(3), field('connectionId', 'textOrNil', 4)],
  3: [field('messages', 'restTexts')],
  4: [
    connectionId,
    field('claims', 'claims'),
    // Both or none: with four elements the SDK looks at neither.
    field('headers', 'headers', 5),
    field('queryString', 'textOrNil', 5),
    ext(6, 1, 3),
  ],
  5: [connectionId, field('errorMessage', 'text'), field('headers', 'headers', 5), ext(5, 1)],
  6: [connectionId, field('payload', 'bin'), ext(4, 1, 5, 6)],
  7: [field('connectionIds', 'texts'), payloads, ext(4, 1, 4)],
  8: [userId, payloads, ext(4, 1, 4)],
  9: [field('userIds', 'texts'), payloads, ext(4, 1, 4)],
  10: [excluded, payloads, ext(4, 1, 4)],
  11: [connectionId, groupName, ext(4, 1)],
  12: [connectionId, groupName, ext(4, 1)],
  13: [
    groupName,
    excluded,
    payloads,
    ext(5, 1, 4),
    field('excludedUserIds', 'texts', 7),
    field('callerUserId', 'textOrNil', 7),
  ],
  14: [field('groupNames', 'texts'), payloads, ext(4, 1, 4)],
  15: [field('errorMessage', 'text')],
  16: [userId, groupName, ext(4, 1, 2)],
  17: [userId, field('groupName', 'textOrNil'), ext(4, 1)],
  18: [connectionId, groupName, ackId, ext(5, 1)],
  19: [connectionId, groupName, ackId, ext(5, 1)],
  20: [
    ackId,
    field('status', 'int'),
    field('message', 'text'),
    ext(5),
    field('payload', 'binIfGiven', 6),
  ],
  21: [userId, groupName, ackId, ext(5, 1)],
  22: [
    field('objectType', 'int'),
    field('id', 'text'),
    field('kind', 'int'),
    field('message', 'text'),
    ext(6),
  ],
  23: [groupName, ackId, ext(4, 1)],
  24: [connectionId, ackId, ext(4, 1)],
  25: [userId, ackId, ext(4, 1)],
  26: [userId, groupName, ackId, ext(5, 1, 2)],
  27: [userId, field('groupName', 'textOrNil'), ackId, ext(5, 1)],
  28: [field('token', 'text'), field('kid', 'textOrNil'), ext(4)],
  29: [
    field('kid', 'textOrNil'),
    field('accessKey', 'textOrNil'),
    field('errorType', 'textOrNil'),
    field('errorMessage', 'textOrNil'),
    ext(6),
  ],
  30: [connectionId, reason, ackId, ext(5, 1)],
  31: [reason, ackId, excluded, ext(5, 1)],
  32: [userId, reason, ackId, excluded, ext(6, 1)],
  33: [groupName, reason, ackId, excluded, ext(6, 1)],
  34: [...invocation, payloads, ext(6, 1)],
  // The protocol stands there twice.
  35: [...invocation, field('protocol', 'textOrNil'), field('payload', 'bin'), ext(7, 1, 3)],
  36: [...invocation, field('error', 'text'), ext(6, 1)],
  37: [field('invocationId', 'text'), connectionId, field('instanceId', 'text'), ext(5)],
  38: [connectionId, ext(3)],
  39: [connectionId, field('connectionType', 'flowEnum'), field('operation', 'flowEnum'), ext(5)],
  // Only here the map comes first.
  40: [
    ext(2, 1),
    groupName,
    ackId,
    field('top', 'intOrNil'),
    field('continuationToken', 'textOrNil'),
  ],
  42: [field('connectionToken', 'text'), ackId, ext(4)],
  43: [connectionId, field('claims', 'claims'), ext(4)],
};

/** The layout of a type number from the wire; undefined when it is not known. */
export function layoutOf(type: number | bigint): readonly Element[] | undefined {
  return Object.hasOwn(serviceLayouts, String(type))
    ? serviceLayouts[Number(type) as ServiceTypeNumber]
    : undefined;
}
