import type { Observation } from "@svc-gateway/common/ir/observation.ts";
import { type AccessLog, noAccessLog } from "./access-log.ts";

/** How requests are logged: of the whole proxy, of a listener, or of a class of Ingresses. */
export type Observer = {
  readonly accessLog: AccessLog;
};

/** Makes the observer of a listener or route when a snapshot is applied; undefined: that of the whole proxy. */
export type ObserverOf = (observation: Observation | undefined) => Observer | undefined;

export function createObserverOf(usual: Observer): ObserverOf {
  return (observation) => {
    if (observation === undefined) return undefined;
    const { accessLog, fields } = observation;
    return {
      accessLog:
        accessLog === false
          ? noAccessLog
          : fields === undefined
            ? usual.accessLog
            : usual.accessLog.withFields(fields),
    };
  };
}

/**
 * The observer of a request. What a class says holds for its Ingresses, what a policy says for a listener of a Gateway, so not
 * for Ingresses on a socket that both share.
 */
export function observerOf(
  route: { readonly group: string; readonly observer?: Observer | undefined } | undefined,
  listener: { readonly observer?: Observer | undefined },
  usual: Observer,
): Observer {
  if (route?.observer !== undefined) return route.observer;
  return route?.group === "ingress" ? usual : (listener.observer ?? usual);
}
