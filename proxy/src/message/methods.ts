import { METHODS } from "node:http";

/** Methods whose requests may be sent twice (RFC 9110 9.2.2). */
const idempotentMethods = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

export const isIdempotent = (method: string): boolean => idempotentMethods.has(method);

/** The methods that llhttp parses. */
const http1Methods = new Set(METHODS);

/** False: a client gets 501 for it over HTTP/1.1 (docs/features/http1.md, "Refused requests"). HTTP/2 takes all methods. */
export const isHttp1Method = (method: string): boolean => http1Methods.has(method);
