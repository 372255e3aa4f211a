import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

describe("gap timeouts of an Ingress, standalone", () => {
  /** Answers `/quick`, begins the response to `/half` and never ends it, and leaves all other requests without one. */
  const backend = createServer((request, response) => {
    if (request.url === "/quick") response.end("whole");
    else if (request.url === "/half") response.write("half");
  });
  before(async () => {
    await once(backend.listen(0, "127.0.0.1"), "listening");
  });
  after(() => {
    backend.closeAllConnections();
    backend.close();
  });

  it("read-gap-timeout answers 504 before the head of a response, and cuts a response that stops after it", async () => {
    const { port } = backend.address() as AddressInfo;
    const annotations = {
      "ingress.svc-labs.dev/read-gap-timeout": "500ms",
      "ingress.svc-labs.dev/connect-timeout": "20s",
    };
    const files = {
      "all.json": listOf(
        ...serviceManifests("web", [port]),
        ingressManifest("web", "web.example.com", [{ path: "/", service: "web" }], { annotations }),
      ),
    };
    await withGateway({ manifests: files }, async ({ httpPort }) => {
      const ask = async (
        path: string,
      ): Promise<{ status: number | undefined; text: string; cut: boolean }> => {
        const headers = { host: "web.example.com" };
        const [response] = (await once(
          get({ host: "127.0.0.1", port: httpPort, path, headers, agent: false }),
          "response",
        )) as [IncomingMessage];
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("error", () => undefined);
        await new Promise((resolve) => response.once("close", resolve));
        return { status: response.statusCode, text, cut: !response.complete };
      };
      /** Asks until the backend was in time, which it is not where this process had to wait for a processor. */
      const askInTime = async (path: string): ReturnType<typeof ask> => {
        let answer = await ask(path);
        while (answer.status === 504) answer = await ask(path);
        return answer;
      };
      expect((await ask("/never")).status).to.equal(504);
      expect(await askInTime("/half")).to.deep.equal({ status: 200, text: "half", cut: true });
      expect(await askInTime("/quick")).to.deep.equal({ status: 200, text: "whole", cut: false });
    });
  });
});
