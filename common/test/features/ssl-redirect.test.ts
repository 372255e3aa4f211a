import { expect } from "chai";
import { sslRedirect, sslRedirectSchema } from "../../src/features/ssl-redirect.ts";

describe("ssl-redirect", () => {
  const ignoreWarning = (): void => {};

  it("ssl-redirect: a boolean and a redirect status are read", () => {
    const { sslRedirect: isOn, sslRedirectCode } = sslRedirect.annotations;
    expect(isOn.parse("TRUE", ignoreWarning)).to.deep.equal({ ok: true, value: true });
    expect(isOn.parse("false", ignoreWarning)).to.deep.equal({ ok: true, value: false });
    expect(isOn.parse("1", ignoreWarning).ok).to.equal(false);
    expect(sslRedirectCode.parse("307", ignoreWarning)).to.deep.equal({ ok: true, value: 307 });
    expect(sslRedirectCode.parse("200", ignoreWarning).ok).to.equal(false);
  });

  it("ssl-redirect: the snapshot has a port and a status", () => {
    expect(sslRedirectSchema.safeParse({ port: 443, statusCode: 308 }).success).to.equal(true);
    expect(sslRedirectSchema.safeParse({ port: 0, statusCode: 308 }).success).to.equal(false);
  });
});
