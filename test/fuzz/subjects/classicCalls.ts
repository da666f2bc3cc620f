import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { readClassicMessage } from '../../../src/servers/classic/classicProtocol';
import type { Subject } from '../subject';

/** Calls as a hub of ASP.NET SignalR gets them, of which it hands the arguments on as they came. */
export const classicCalls: Subject = {
  name: 'classic-calls',
  holds: 'a call is read as JSON has it, or not at all',
  seeds: () => [
    '{"H":"signalrbench","M":"Echo","A":[{"payload.Timestamp":"1"}],"I":0}',
    '{"I":"7","A":[],"M":"GetConnectionId","H":"SignalRBench","S":{"counted":3}}',
    ' {"H":"h","M":"m","A":null,"I":null} ',
  ],
  pieces: ['"H":', '"M":', '"A":[', '"I":-1', '"S":{', '\\u0048', 'null', '}]'],
  check: (input) => {
    // A web socket lets only text through, and a form is made into text.
    if (!isUtf8(input)) return;
    const message = readClassicMessage(input);
    if (message === undefined) return;
    const value = JSON.parse(input.toString('utf8')) as Record<string, unknown>;
    // Members whose names are escaped are none here.
    if (input.includes('\\')) return;
    assert.deepEqual([value['H'], value['M']], [message.hub, message.target]);
    const listed = value['A'] ?? [];
    if (Array.isArray(listed) && message.argumentCount > 0)
      assert.deepEqual(JSON.parse(message.allArguments.toString('utf8')), listed);
  },
};
