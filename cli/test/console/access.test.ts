import { expect } from "chai";
import { cookieIn, isOwnForm, isOwnHost } from "../../src/console/access/request-checks.ts";
import { checkFixedToken, createOneTimeTokens, createSignIn } from "../../src/console/access/sign-in.ts";

describe("requests to the console from other sites", () => {
  it("a Host header names the console by an address, localhost or a given name, and nothing else", () => {
    const hosts = ["127.0.0.1", "localhost:8083", "[::1]:8083", "10.0.0.1:1", "Console.example.com:80"];
    expect(hosts.filter((host) => !isOwnHost(host, ["console.example.com"]))).to.deep.equal([]);
    const foreign = [
      undefined,
      "",
      "evil.example",
      "localhost.evil.example",
      "a@127.0.0.1",
      "127.0.0.1:80:80",
    ];
    expect(foreign.filter((host) => isOwnHost(host, ["console.example.com"]))).to.deep.equal([]);
  });

  it("a form of another site is refused, by Fetch Metadata or by its origin", () => {
    expect(isOwnForm({ "sec-fetch-site": "same-origin" })).to.equal(true);
    expect(isOwnForm({ "sec-fetch-site": "same-site" })).to.equal(false);
    expect(isOwnForm({ "sec-fetch-site": "cross-site", origin: "http://a", host: "a" })).to.equal(false);
    expect(isOwnForm({ origin: "http://localhost:8083", host: "localhost:8083" })).to.equal(true);
    expect(isOwnForm({ origin: "http://localhost:1", host: "localhost:8083" })).to.equal(false);
    expect(isOwnForm({ host: "localhost:8083" })).to.equal(false);
  });

  it("a cookie is found by its whole name", () => {
    expect(cookieIn("xa=1; a=b=c; aa=2", "a")).to.equal("b=c");
    expect(cookieIn(undefined, "a")).to.equal("");
  });
});

describe("signing in to the console", () => {
  const clock = { nowMs: () => nowMs };
  let nowMs = 0;

  it("a session lasts for its time, and until its owner leaves", async () => {
    const signIn = createSignIn({ check: checkFixedToken(() => "right"), sessionMs: 1000, clock });
    const [first, second] = [await signIn.enter("right", ""), await signIn.enter("right", "")];
    if (typeof first === "string" || typeof second === "string") throw new Error("refused");
    expect(signIn.isOpen(first.session)).to.equal(true);
    expect(signIn.isOpen(`${first.session}x`)).to.equal(false);
    signIn.leave(first.session);
    expect([signIn.isOpen(first.session), signIn.isOpen(second.session)]).to.deep.equal([false, true]);
    nowMs += 1000;
    expect(signIn.isOpen(second.session)).to.equal(false);
  });

  it("wrong tokens are refused, and after twenty in a minute all are", async () => {
    const signIn = createSignIn({ check: checkFixedToken(() => "right"), sessionMs: 1000, clock });
    for (let tries = 0; tries < 20; tries++) expect(await signIn.enter("wrong", "")).to.equal("refused");
    expect(await signIn.enter("right", "")).to.equal("too-many");
    nowMs += 60_000;
    expect(await signIn.enter("right", "")).to.have.property("session");
  });

  it("a link is valid once, and the next one replaces it", async () => {
    const tokens: string[] = [];
    const check = createOneTimeTokens((token) => tokens.push(token));
    const [first = ""] = tokens;
    expect(await check(first, "")).to.equal("ok");
    expect(await check(first, "")).to.equal("refused");
    expect(await check(tokens[1] ?? "", "")).to.equal("ok");
    expect(await check("", "")).to.equal("refused");
  });
});
