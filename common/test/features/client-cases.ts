/** Values of annotations about data that clients send and receive, a part of the table in annotation-cases.ts. */
import type { AnnotationCase } from "./annotation-values.ts";

export const clientCases: Readonly<Record<string, readonly AnnotationCase[]>> = {
  "response-header-request-id": [
    ["X-Request-ID", "taken"],
    [" request-id ", "taken"],
    ["X-A, X-B", "malformed"],
    ["X A", "malformed"],
    ["Content-Length", "malformed"],
    ["X-A\r\nX-B", "malformed"],
    ["", "malformed"],
  ],
  "auth-tls-verify-client": [
    ["on", "taken"],
    [" Optional ", "taken"],
    ["optional_no_ca", "taken"],
    ["off", "taken"],
    ["optional-no-ca", "malformed"],
    ["true", "malformed"],
    ["toString", "malformed"],
    ["", "malformed"],
  ],
  "auth-tls-error-page": [
    ["https://help.example.com/certificate?a=b", "taken"],
    ["/no-certificate", "taken"],
    ["/no-certificate?lang=en%20us", "taken"],
    ["/", "taken"],
    ["@named", "malformed"],
    ["no-certificate", "malformed"],
    ["ftp://a.example/", "malformed"],
    ["/a/../b", "malformed"],
    ["/a/%2E%2e/b", "malformed"],
    ["/a b", "malformed"],
    ["/a\r\nX: y", "malformed"],
    ["/ä", "malformed"],
    ["", "malformed"],
  ],
  "auth-tls-match-subject": [
    ["CN=(alice|bob)(,|$)", "taken"],
    ["O=Example", "taken"],
    ["CN=(", "malformed"],
    ["CN=(?=a)", "malformed"],
    ["CN=é", "malformed"],
    ["CN=a\u0000", "malformed"],
    ["", "malformed"],
  ],
};
