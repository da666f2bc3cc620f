/** Version of this program as stored in results; a test compares it with `package.json`. */
export const toolVersion = '0.1.0';
