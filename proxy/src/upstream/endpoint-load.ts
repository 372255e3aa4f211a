import type { UpstreamEndpoint } from "./upstream.ts";

/** The weight of a new sample in the moving average of the latency. */
const alpha = 1 / 8;

/** The load and latency of an endpoint as measured by one worker. Kept while the endpoint object exists. */
export class EndpointLoad {
  /** Requests that were sent and have not ended. */
  inFlight = 0;
  /**
   * Moving average of the time from a request to its response head, in milliseconds; undefined before the first sample.
   */
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
