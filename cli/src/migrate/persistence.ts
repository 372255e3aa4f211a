/** Writes the session affinity of a path for a SvcBackendPolicy. */
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";

/** Writes `sessionPersistence` of a policy. */
export function writePersistence(affinity: SessionAffinity | undefined): object | undefined {
  if (affinity === undefined) return undefined;
  const { cookie, omitsNoneIfMisread, changesOnFailure, ...attributes } = affinity;
  return {
    type: "Cookie",
    sessionName: cookie,
    cookie: {
      ...attributes,
      ...(omitsNoneIfMisread === true && { omitNoneIfMisread: true }),
      ...(changesOnFailure === true && { changeOnFailure: true }),
    },
  };
}
