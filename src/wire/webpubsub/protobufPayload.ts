import { isJson } from '../hub/jsonScan';
import { noData, type DataType, type Payload } from './payload';
import { bytesHead, bytesIn, utf8In, visitFields } from './protobufFields';

/** Fields of `MessageData` by data type. */
const fields: Readonly<Record<DataType, number>> = { text: 1, binary: 2, protobuf: 3, json: 4 };

/** @throws SyntaxError when the bytes are no `MessageData` */
export function readProtobufPayload(bytes: Buffer): Payload {
  let payload = noData;
  visitFields(bytes, (field, value) => {
    switch (field) {
      case fields.text:
        payload = { dataType: 'text', bytes: utf8In(value) };
        break;
      case fields.binary:
        payload = { dataType: 'binary', bytes: bytesIn(value) };
        break;
      case fields.protobuf:
        payload = { dataType: 'protobuf', bytes: bytesIn(value) };
        break;
      case fields.json:
        payload = { dataType: 'json', bytes: jsonIn(bytesIn(value)) };
        break;
      default:
      // A newer schema.
    }
  });
  return payload;
}

/** It goes into JSON frames as it is. */
function jsonIn(bytes: Buffer): Buffer {
  if (!isJson(bytes)) throw new SyntaxError('no JSON');
  return bytes;
}

/** The parts of a field that holds a `MessageData`. */
export function protobufPayload(field: number, { dataType, bytes }: Payload): Buffer[] {
  const head = bytesHead(fields[dataType], bytes.length);
  return [bytesHead(field, head.length + bytes.length), head, bytes];
}
