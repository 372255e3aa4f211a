/** The values of `--http2-codec`. */
export const http2Codecs = ["node", "native"] as const;
type Http2Codec = (typeof http2Codecs)[number];

/** Outside of `describeHttp2Codecs`; HTTP2_CODEC=node runs everything with that codec. */
const codecOfRun: Http2Codec = process.env["HTTP2_CODEC"] === "node" ? "node" : "native";
let codec = codecOfRun;

/** The codec of HTTP/2 that gateways of tests have now. */
export const http2Codec = (): Http2Codec => codec;

/** Undefined: that of the run again. */
export function useHttp2Codec(next: Http2Codec | undefined): void {
  codec = next ?? codecOfRun;
}

/** A describe block for each codec of HTTP/2, within which `startGateway` uses that codec. */
export function describeHttp2Codecs(
  subject: string,
  tests: (this: Mocha.Suite, codec: Http2Codec) => void,
): void {
  for (const each of http2Codecs) {
    describe(`${subject}, with the ${each} codec of HTTP/2`, function () {
      before(() => useHttp2Codec(each));
      after(() => useHttp2Codec(undefined));
      tests.call(this, each);
    });
  }
}
