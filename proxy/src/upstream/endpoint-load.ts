import type { UpstreamEndpoint } from "./upstream.ts";

/** Share of a new sample in the moving average of the latency. */
const alpha = 1 / 8;

/** The load and latency of an endpoint as one worker has measured them. Kept while the endpoint object is. */
export class EndpointLoad {
  /** Requests that were sent and have not ended. */
  inFlight = 0;
  /** Moving average of the time from a request to the head of its response, in milliseconds; undefined: no sample yet. */
  latencyMs: number | undefined = undefined;

  observe(latencyMs: number): void {
    this.latencyMs =
      this.latencyMs === undefined ? latencyMs : this.latencyMs + alpha * (latencyMs - this.latencyMs);
  }
}

const loads = new WeakMap<UpstreamEndpoint, EndpointLoad>();

export function loadOf(endpoint: UpstreamEndpoint): EndpointLoad {
  const known = loads.get(endpoint);
  if (known !== undefined) return known;
  const load = new EndpointLoad();
  loads.set(endpoint, load);
  return load;
}
