import { type SocketLayerName, useSocketLayer } from "./socket-layers.ts";

/** The values of `--http2-codec`. */
export const http2Codecs = ["node", "native"] as const;
type Http2Codec = (typeof http2Codecs)[number];

/** Outside of `describeHttp2Codecs`; HTTP2_CODEC=node runs everything with that codec. */
const codecOfRun: Http2Codec = process.env["HTTP2_CODEC"] === "node" ? "node" : "native";
let codec = codecOfRun;

/** The codec of HTTP/2 that gateways of tests have now. */
export const http2Codec = (): Http2Codec => codec;

/** Sets the codec of HTTP/2 that gateways of tests use; undefined restores that of the run. */
export function useHttp2Codec(next: Http2Codec | undefined): void {
  codec = next ?? codecOfRun;
}

/** The codecs, and the socket layers with which they are tested. */
const combinations: readonly {
  readonly codec: Http2Codec;
  readonly layer: SocketLayerName;
  readonly title: string;
}[] = [
  { codec: "node", layer: "handles", title: "with the node codec of HTTP/2" },
  { codec: "native", layer: "handles", title: "with the native codec of HTTP/2" },
  { codec: "native", layer: "node", title: "with the native codec of HTTP/2 on Node's sockets" },
];

/**
 * A describe block for each codec of HTTP/2, and one for the native codec on Node's public sockets, within which `startGateway`
 * uses that codec.
 */
export function describeHttp2Codecs(
  subject: string,
  tests: (this: Mocha.Suite, codec: Http2Codec) => void,
): void {
  for (const { codec: each, layer, title } of combinations) {
    describe(`${subject}, ${title}`, function () {
      before(() => {
        useHttp2Codec(each);
        useSocketLayer(layer);
      });
      after(() => {
        useHttp2Codec(undefined);
        useSocketLayer(undefined);
      });
      tests.call(this, each);
    });
  }
}
