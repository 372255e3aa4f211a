/** Methods whose requests may be sent twice (RFC 9110 9.2.2). */
const idempotentMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

export const isIdempotent = (method: string): boolean => idempotentMethods.has(method);
