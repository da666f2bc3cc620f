export const dataTypes = ['json', 'text', 'binary', 'protobuf'] as const;

/** What a payload is: `protobuf` is an encoded `google.protobuf.Any`. */
export type DataType = (typeof dataTypes)[number];

/** The data of a message, free of how a frame carries it. */
export interface Payload {
  readonly dataType: DataType;
  /** UTF-8 of text and of JSON text, and the bytes themselves of the others. */
  readonly bytes: Buffer;
}

/** What counts as sent when there is no data. */
export const noData: Payload = { dataType: 'json', bytes: Buffer.from('null') };

/** Whether a text names a data type. */
export const isDataType = (text: unknown): text is DataType =>
  dataTypes.some((dataType) => dataType === text);
