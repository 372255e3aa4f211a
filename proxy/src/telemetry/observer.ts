import type { Observation } from "@svc-gateway/common/ir/observation.ts";
import type { Observer, RequestTracer } from "../exchange/observer.ts";
import { type AccessLog, noAccessLog } from "./access-log.ts";

/** Creates the observer of a listener or route when a snapshot is applied; undefined for that of the whole proxy. */
export type ObserverOf = (observation: Observation | undefined) => Observer | undefined;

export const createObserverOf =
  (usual: Observer): ObserverOf =>
  (observation) =>
    observation && {
      accessLog: accessLogOf(observation, usual.accessLog),
      tracer: tracerOf(observation, usual.tracer),
    };

function accessLogOf({ accessLog, fields }: Observation, usual: AccessLog): AccessLog {
  if (accessLog === false) return noAccessLog;
  return fields === undefined ? usual : usual.withFields(fields);
}

function tracerOf({ tracing }: Observation, usual: RequestTracer | undefined): RequestTracer | undefined {
  if (tracing === undefined) return usual;
  return tracing === false ? undefined : usual?.withRatio(tracing.ratio);
}
