import type { Cancellable, Exchange } from "../exchange/exchange.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import { joinTunnel } from "../sockets/tunnel.ts";
import { awake } from "../timing/awake-clock.ts";
import type { AttemptTimes } from "./attempt-times.ts";
import type { ResponseMemory } from "./response-memory.ts";

/** Joins the two connections of an upgraded request; the exchange ends with the tunnel. */
export function tunnelFor(
  exchange: Exchange,
  ends: { readonly client: TunnelEnd; readonly upstream: TunnelEnd },
  times: AttemptTimes | undefined,
  memory: ResponseMemory,
): Cancellable {
  exchange.lastActivityMs = awake.nowMs;
  times?.relayed();
  return joinTunnel(
    ends.client,
    ends.upstream,
    {
      isWebSocket: true,
      onProgress: (clientBytes, upstreamBytes) => {
        exchange.tunnelBytesSent += clientBytes;
        exchange.bytesReceived += upstreamBytes;
        exchange.lastActivityMs = awake.nowMs;
        times?.relayed();
      },
      onEnd: () => {
        times?.end();
        exchange.finish();
      },
    },
    memory,
  );
}
