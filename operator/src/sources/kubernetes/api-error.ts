import type { ApiError } from "./api-client.ts";

/** An error of the API server in one line, such as `HTTP 403: Forbidden: ...`. */
export const describeApiError = ({ status, reason, message }: ApiError): string =>
  [status === 0 ? "" : `HTTP ${status}`, reason, message].filter((part) => part !== "").join(": ");
