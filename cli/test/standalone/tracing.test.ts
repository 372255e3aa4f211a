import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import {
  startGrpcCollector,
  startHttpCollector,
  type CollectedSpan,
  type Collector,
} from "../../../proxy/test/tracing/collector.ts";
import { exported } from "./exported.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerId = "00f067aa0ba902b7";
const [serverKind, clientKind] = [2, 3];

const collectors: readonly (readonly [protocol: string, start: () => Promise<Collector>])[] = [
  ["grpc", startGrpcCollector],
  ["http/protobuf", startHttpCollector],
];

describe("tracing, from a client to a collector", () => {
  for (const [protocol, startCollector] of collectors) {
    it(`tracing by ${protocol}: caller, gateway, attempt and backend are one trace, and the log line names it`, async () => {
      const seen: IncomingHttpHeaders[] = [];
      const backend = createServer(({ headers }, response) => {
        seen.push(headers);
        response.end("ok");
      }).listen(0, "127.0.0.1");
      await once(backend, "listening");
      const collector = await startCollector();
      const manifests = listOf(
        ...serviceManifests("web", [(backend.address() as AddressInfo).port]),
        ingressManifest("web", "traced.example", [{ path: "/", service: "web" }]),
      );
      const flags = [
        ...["--tracing-endpoint", collector.url, "--tracing-protocol", protocol],
        ...["--tracing-service-name", "edge", "--access-log-fields", "+trace_id"],
      ];
      try {
        await withGateway({ manifests: { "all.json": manifests }, flags }, async (gateway) => {
          const headers = {
            host: "traced.example",
            traceparent: `00-${traceId}-${callerId}-01`,
            tracestate: "caller=1",
          };
          await exported(gateway, async () => {
            seen.length = 0;
            collector.spans.length = 0;
            const { httpPort: port } = gateway;
            const sent = request({ host: "127.0.0.1", port, path: "/cart?token=secret", headers });
            sent.end();
            const [response] = (await once(sent, "response")) as [IncomingMessage];
            response.resume();
            expect(response.statusCode).to.equal(200);
            return () => collector.spans.length === 2;
          });
          const ofKind = (kind: number): CollectedSpan => {
            const found = collector.spans.filter((span) => span.kind === kind);
            expect(found).to.have.lengthOf(1);
            return found[0] as CollectedSpan;
          };
          const [server, client] = [ofKind(serverKind), ofKind(clientKind)];
          expect([server.traceId, client.traceId]).to.deep.equal([traceId, traceId]);
          expect(server.parentId).to.equal(callerId);
          expect(client.parentId).to.equal(server.spanId);
          expect(seen.map(({ traceparent }) => traceparent)).to.deep.equal([
            `00-${traceId}-${client.spanId}-01`,
          ]);
          expect(seen[0]).to.include({ tracestate: "caller=1" });
          expect(server.resource).to.include({ "service.name": "edge" });
          expect(server.startNs <= client.startNs && client.endNs <= server.endNs).to.equal(true);
          const texts = collector.spans.flatMap(({ name, attributes }) => [
            name,
            ...Object.values(attributes),
          ]);
          expect(texts.join()).not.to.include("secret");
          const line = await gateway.log((one) => one["trace_id"] === traceId);
          expect(line).to.include({ message: "request", host: "traced.example", status: 200 });
        });
      } finally {
        await collector.close();
        backend.close();
        backend.closeAllConnections();
      }
    });
  }
});
