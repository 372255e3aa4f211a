import { METHODS } from "node:http";
import { expect } from "chai";
import { isHttp1Method } from "../../../src/message/methods.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, startFront, statusesOf, stopAll } from "./harness.ts";

/** Methods of RTSP, which llhttp also knows; unknown ones; beginnings of known ones; and ones in the wrong case. */
const others = [
  ...["ANNOUNCE", "DESCRIBE", "PAUSE", "PLAY", "RECORD", "REDIRECT", "SETUP", "TEARDOWN", "FLUSH"],
  ...["GET_PARAMETER", "SET_PARAMETER", "BREW", "X", "G", "GE", "GETS", "M-SEARC", "QUER", "get", "Get"],
];

describeCodecs("the HTTP/1 front: methods", (codec) => {
  afterEach(stopAll);

  const served =
    codec === "native"
      ? "every token as a method"
      : "the methods that Node names, and answers 501 to all others";
  it(`the HTTP/1 front accepts ${served}`, async () => {
    const { connect } = await startFront((_, _head, stream) => answer(stream));
    for (const method of [...METHODS.filter((name) => name !== "CONNECT"), ...others]) {
      const client = await connect();
      client.send(`${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      const [status] = statusesOf(await client.untilEnd());
      expect(status, method).to.equal(codec === "native" || isHttp1Method(method) ? "200" : "501");
    }
  });

  it("a method that is not a token gets 400", async () => {
    const { connect } = await startFront((_, _head, stream) => answer(stream));
    for (const line of [" GET / HTTP/1.1", "G\u00e4T / HTTP/1.1", "(GET) / HTTP/1.1", "\u0001 / HTTP/1.1"]) {
      const client = await connect();
      client.send(`${line}\r\nHost: a\r\n\r\n`);
      expect(statusesOf(await client.untilEnd()), line).to.deep.equal(["400"]);
    }
  });
});
