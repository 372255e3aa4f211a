import { expect } from "chai";
import type { Retry } from "@svc-gateway/common/features/retry.ts";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { exchange, startGateway, startHttp, startTcp } from "./gateway.ts";

const send = (method: string, body: string): string =>
  `${method} / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;

describe("retries of a plan with conditions, through the whole data plane", () => {
  /** The status of a request, and how often the backends got it, where each answers with this. */
  async function ask(
    method: string,
    body: string,
    retry: Retry,
    answer: number | "close",
  ): Promise<unknown[]> {
    let seen = 0;
    const backends = await Promise.all(
      [1, 2, 3, 4].map(() =>
        answer === "close"
          ? startTcp((socket) => {
              socket.once("data", () => {
                seen++;
                socket.destroy();
              });
            })
          : startHttp((request, response) => {
              seen++;
              request.resume();
              request.on("end", () => {
                response.statusCode = answer;
                response.end();
              });
            }),
      ),
    );
    const gateway = await startGateway({ ports: backends.map(({ port }) => port), features: { retry } });
    try {
      const response = await exchange(gateway.port, send(method, body));
      return [response.slice(9, 12), seen, gateway.records[0]?.attempts];
    } finally {
      await gateway.close();
      for (const backend of backends) await backend.close();
    }
  }

  const plan: Retry = { attempts: 2, codes: [503], conditions: ["error", "timeout"] };

  it("an idempotent request is tried at three endpoints, with its body", async () => {
    expect(await ask("PUT", "body", plan, "close")).to.deep.equal(["502", 3, 3]);
    expect(await ask("PUT", "body", plan, 503)).to.deep.equal(["503", 3, 3]);
  });

  it("a POST that was sent is tried once, after a lost connection and after a status", async () => {
    expect(await ask("POST", "body", plan, "close")).to.deep.equal(["502", 1, 1]);
    expect(await ask("POST", "body", plan, 503)).to.deep.equal(["503", 1, 1]);
    const every: Retry = { ...plan, everyMethod: true };
    expect(await ask("POST", "body", every, 503)).to.deep.equal(["503", 3, 3]);
  });

  it("a request whose body is larger than the replay buffer is not repeated", async () => {
    expect(await ask("PUT", "x".repeat(70_000), plan, 503)).to.deep.equal(["503", 1, 1]);
  });

  it("a POST of which nothing was sent is tried at the endpoint that accepts connections", async () => {
    const refusing = await holdRefusingPort();
    const alive = await startHttp((_, response) => void response.end("ok"));
    const gateway = await startGateway({ ports: [refusing.port, alive.port], features: { retry: plan } });
    try {
      for (let i = 0; i < 4; i++) {
        expect((await exchange(gateway.port, send("POST", "x"))).slice(9, 12)).to.equal("200");
      }
    } finally {
      await gateway.close();
      await alive.close();
      refusing.close();
    }
  });
});
