import { expect } from "chai";
import { parseRedirectPath, parseRedirectStatus, redirect } from "../../src/features/redirect.ts";

describe("redirect", () => {
  for (const status of [301, 302, 307, 308]) {
    it(`redirect: the status ${status} is accepted`, () =>
      expect(parseRedirectStatus(String(status))).to.deep.equal({ ok: true, value: status }));
  }
  for (const text of ["", "300", "303", "304", "200", "301.0", "0x12d", "three"]) {
    it(`redirect: rejects the status ${JSON.stringify(text)}`, () =>
      expect(parseRedirectStatus(text).ok).to.equal(false));
  }

  for (const path of ["/", "/a/b", "//a", "/%C3%A9", "/a;b=c,d/@:!$&'()*+~_-."]) {
    it(`redirect: the path ${path} is accepted`, () =>
      expect(parseRedirectPath(path)).to.deep.equal({ ok: true, value: { type: "full", value: path } }));
  }
  const badPaths = ["", "a", "http://b.example/", "/a b", "/é", "/a?b", "/a#b", "/%", "/%zz", "/a\r\nX: y"];
  for (const path of badPaths) {
    it(`redirect: rejects the path ${JSON.stringify(path)}`, () =>
      expect(parseRedirectPath(path).ok).to.equal(false));
  }

  it("redirect: scheme, hostname and port are read", () => {
    const { redirectScheme, redirectHostname, redirectPort } = redirect.annotations;
    const ignoreWarning = (): void => {};
    expect(redirectScheme.parse("Https", ignoreWarning)).to.deep.equal({ ok: true, value: "https" });
    expect(redirectScheme.parse("ftp", ignoreWarning).ok).to.equal(false);
    expect(redirectHostname.parse("B.Example.", ignoreWarning)).to.deep.equal({
      ok: true,
      value: "b.example",
    });
    for (const text of ["*.b.example", "b.example:80", "b.example/x", "10.0.0.1"]) {
      expect(redirectHostname.parse(text, ignoreWarning).ok, text).to.equal(false);
    }
    expect(redirectPort.parse("65535", ignoreWarning)).to.deep.equal({ ok: true, value: 65535 });
    for (const text of ["0", "65536", "http"])
      expect(redirectPort.parse(text, ignoreWarning).ok).to.equal(false);
  });

  it("redirect: a status alone does not redirect, and the default status is 302", () => {
    const none = {
      redirectUrl: undefined,
      redirectScheme: undefined,
      redirectHostname: undefined,
      redirectPort: undefined,
      redirectPath: undefined,
      redirectStatusCode: undefined,
    };
    const to = (values: Partial<Parameters<typeof redirect.fromAnnotations>[0]>) =>
      redirect.fromAnnotations({ ...none, ...values }, () => none);
    expect(to({ redirectStatusCode: 308 })).to.equal(undefined);
    expect(to({ redirectUrl: "https://b.example/x?y", redirectPort: 8443 })).to.deep.equal({
      url: "https://b.example/x?y",
      statusCode: 302,
    });
    expect(to({ redirectPort: 8443 })).to.deep.equal({ port: 8443, statusCode: 302 });
    expect(to({ redirectScheme: "https", redirectStatusCode: 307 })).to.deep.equal({
      scheme: "https",
      statusCode: 307,
    });
  });
});
