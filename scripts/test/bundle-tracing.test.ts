import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { createOtlpExporter } from "@svc-gateway/proxy/tracing/export/otlp-exporter.ts";
import { decodeRecords } from "@svc-gateway/proxy/tracing/encoded-spans.ts";
import { expect } from "chai";
import { build } from "esbuild";
import { builtinHttp } from "../bundle/builtin-http.ts";
import { modules } from "../bundle/bundle.ts";
import { unusedParts } from "../bundle/unused-parts.ts";
import { startGrpcCollector, startHttpCollector } from "../../proxy/test/tracing/collector.ts";
import { encodeSpans } from "../../proxy/test/tracing/span-records.ts";

describe("the exporters of traces in the bundle", () => {
  type Bundled = { createOtlpExporter: typeof createOtlpExporter };
  let folder: string;
  let bundled: Bundled;

  // Like an image, the folder has no node_modules.
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "svc-gateway-bundle-"));
    const outfile = join(folder, "exporter.mjs");
    await build({
      absWorkingDir: resolve(import.meta.dirname, "../.."),
      entryPoints: ["proxy/src/tracing/export/otlp-exporter.ts"],
      plugins: [unusedParts, builtinHttp],
      outfile,
      ...modules,
    });
    bundled = (await import(pathToFileURL(outfile).href)) as Bundled;
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [protocol, startCollector] of [
    ["grpc", startGrpcCollector],
    ["http/protobuf", () => startHttpCollector()],
  ] as const) {
    it(`a collector gets the spans of the bundled program by ${protocol}`, async () => {
      const collector = await startCollector();
      const exporter = bundled.createOtlpExporter({
        protocol,
        endpoint: new URL(collector.url),
        headers: { "x-tenant": "shop" },
        caBundle: undefined,
        timeoutMs: 30_000,
        resource: {},
      });
      try {
        expect(await exporter.send(batch())).to.deep.equal({ spans: 0, why: "" });
        expect(collector.spans.map(({ name }) => name)).to.deep.equal(["GET /cart"]);
        expect(collector.headers()).to.include({ "x-tenant": "shop" });
      } finally {
        await exporter.close();
        await collector.close();
      }
    });
  }
});

/** One span, in the form that workers send. */
function batch() {
  const caller = {
    traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
    parentId: "00f067aa0ba902b8",
    flags: 1,
    state: "",
  };
  const identity = { traceId: caller.traceId, spanId: "00f067aa0ba902b7", caller, flags: 1, isSampled: true };
  const { spanId } = identity;
  const span = {
    spanId,
    parentId: caller.parentId,
    isParentRemote: true,
    kind: "server",
    name: "GET /cart",
  } as const;
  return [
    ...decodeRecords(
      encodeSpans(identity, [{ ...span, startMs: 1, endMs: 2, attributes: {}, error: undefined }]),
    ),
  ];
}
