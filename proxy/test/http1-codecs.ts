import { createHttp1Front } from "../src/http/h1/node/front.ts";
import { createNativeHttp1Front } from "../src/http/h1/native/front.ts";
import { useHttp2Codec } from "./http2-codecs.ts";
import { socketLayer, type SocketLayerName, useSocketLayer } from "./socket-layers.ts";

/** The values of `--http1-codec`. */
export type Http1Codec = "node" | "native";

/** Outside of `describeCodecs`; HTTP1_CODEC=node runs everything with that codec. */
const codecOfRun: Http1Codec = process.env["HTTP1_CODEC"] === "node" ? "node" : "native";
let codec = codecOfRun;

/** The codec that fronts and gateways of tests have now. */
export const http1Codec = (): Http1Codec => codec;

/** Creates a front of the current codec. */
export const createFrontOfCodec: typeof createHttp1Front = (options) =>
  codec === "native" ? createNativeHttp1Front(options, socketLayer()) : createHttp1Front(options);

/** The codecs, and the socket layers with which they are tested. */
export const codecCombinations: readonly {
  readonly codec: Http1Codec;
  readonly layer: SocketLayerName;
  readonly title: string;
}[] = [
  { codec: "node", layer: "handles", title: "with the node codec of HTTP/1" },
  { codec: "native", layer: "handles", title: "with the native codec of HTTP/1" },
  { codec: "native", layer: "node", title: "with the native codec of HTTP/1 on Node's sockets" },
];

/**
 * A describe block for each codec of HTTP/1, and one for the native codec on Node's public sockets, within which `startFront` and
 * `startGateway` use that codec, and gateways the one of the same kind for HTTP/2.
 */
export function describeCodecs(
  subject: string,
  tests: (this: Mocha.Suite, codec: Http1Codec, layer: SocketLayerName) => void,
): void {
  for (const { codec: each, layer, title } of codecCombinations) {
    describe(`${subject}, ${title}`, function () {
      before(() => {
        codec = each;
        useHttp2Codec(each);
        useSocketLayer(layer);
      });
      after(() => {
        codec = codecOfRun;
        useHttp2Codec(undefined);
        useSocketLayer(undefined);
      });
      tests.call(this, each, layer);
    });
  }
}
