import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import { exchange, startGateway, startTcp } from "./gateway.ts";

const request = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";

describeCodecs("timeouts of the whole proxy", () => {
  /** The status of a request to a backend that answers after `answerMs` or never, and its access-log error. */
  async function ask(
    flags: readonly string[],
    { timeouts, answerMs }: { readonly timeouts?: Timeouts; readonly answerMs?: number } = {},
  ): Promise<readonly [string, unknown]> {
    const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    const backend = await startTcp((socket) => {
      if (answerMs !== undefined) socket.once("data", () => setTimeout(() => socket.end(answer), answerMs));
    });
    const features = timeouts === undefined ? {} : { features: { timeouts } };
    const gateway = await startGateway({ ports: [backend.port], ...features }, flags);
    try {
      const response = await exchange(gateway.port, request);
      return [response.slice(9, 12), gateway.records[0]?.error];
    } finally {
      await gateway.close();
      await backend.close();
    }
  }

  const request50 = "--proxy-default-request-timeout=50ms";
  const attempt50 = "--proxy-default-backend-request-timeout=50ms";

  it("the proxy's default timeouts limit a rule without timeouts", async () => {
    expect(await ask([request50])).to.deep.equal(["504", "request timeout"]);
    expect(await ask([attempt50])).to.deep.equal(["504", "upstream request timeout"]);
  });

  it("the proxy's default timeouts limit a rule with timeouts of another kind", async () => {
    expect(await ask([attempt50], { timeouts: { readTimeoutMs: 60_000 } })).to.deep.equal([
      "504",
      "upstream request timeout",
    ]);
  });

  it("the proxy's default timeouts do not limit a rule that replaces them, even by none", async () => {
    const flags = [request50, attempt50];
    for (const timeouts of [
      { replacesDefaults: true },
      { replacesDefaults: true, requestTimeoutMs: 60_000 },
    ] as const) {
      expect(await ask(flags, { timeouts, answerMs: 300 })).to.deep.equal(["200", undefined]);
    }
  });
});
