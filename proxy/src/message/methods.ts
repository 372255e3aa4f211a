import { METHODS } from "node:http";

/** Idempotent methods, whose requests may be sent again (RFC 9110 9.2.2). */
const idempotentMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

export const isIdempotent = (method: string): boolean => idempotentMethods.has(method);

/** The methods that Node's HTTP/1 parser (llhttp) accepts. */
const http1Methods = new Set(METHODS);

/**
 * Reports whether a method is accepted over HTTP/1.1, where others are answered 501 (docs/features/http1.md, "Refused
 * requests"). HTTP/2 accepts all methods.
 */
export const isHttp1Method = (method: string): boolean => http1Methods.has(method);
