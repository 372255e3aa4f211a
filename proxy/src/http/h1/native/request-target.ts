import { slash } from "../../../message/octets.ts";

/** `scheme://authority`, followed by nothing, a path or a query; the pipeline checks the rest. */
const absoluteForm = /^[A-Za-z]+:\/\/[A-Za-z0-9\-._~%!$&'()*+,;=:@[\]]+(?:[/?]|$)/;
const authorityForm = /^(?:[A-Za-z0-9\-._~%!$&'()*+,;=]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}$/;

/**
 * Reports whether the form of a target is allowed for its method (RFC 9112 3.2): `host:port` for CONNECT, `*` for
 * OPTIONS, or else a path or an absolute URI. The octets of the target have been checked before.
 */
export function isRequestTarget(method: string, target: string): boolean {
  if (method === "CONNECT") return authorityForm.test(target);
  if (target.charCodeAt(0) === slash) return true;
  if (target === "*") return method === "OPTIONS";
  return absoluteForm.test(target);
}
