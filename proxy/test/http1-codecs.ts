import { createHttp1Front } from "../src/http/h1/front.ts";
import { createNativeHttp1Front } from "../src/http1/front.ts";
import { useHttp2Codec } from "./http2-codecs.ts";

/** The values of `--http1-codec`. */
export type Http1Codec = "node" | "native";

/** Outside of `describeCodecs`; HTTP1_CODEC=node runs everything with that codec. */
const codecOfRun: Http1Codec = process.env["HTTP1_CODEC"] === "node" ? "node" : "native";
let codec = codecOfRun;

/** The codec that fronts and gateways of tests have now. */
export const http1Codec = (): Http1Codec => codec;

/** Creates a front of the current codec. */
export const createFrontOfCodec: typeof createHttp1Front = (options) =>
  codec === "native" ? createNativeHttp1Front(options) : createHttp1Front(options);

/**
 * A describe block for each codec of HTTP/1, within which `startFront` and `startGateway` use that codec, and gateways the one
 * of the same kind for HTTP/2.
 */
export function describeCodecs(subject: string, tests: (this: Mocha.Suite, codec: Http1Codec) => void): void {
  for (const each of ["node", "native"] as const) {
    describe(`${subject}, with the ${each} codec of HTTP/1`, function () {
      before(() => {
        codec = each;
        useHttp2Codec(each);
      });
      after(() => {
        codec = codecOfRun;
        useHttp2Codec(undefined);
      });
      tests.call(this, each);
    });
  }
}
