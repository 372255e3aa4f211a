import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { expect } from "chai";
import { createCertificateAuthority } from "@svc-gateway/operator/discovery/certificate-authority.ts";
import {
  formatRetiredRoots,
  parseRetiredRoots,
  retiredRootsAt,
} from "@svc-gateway/operator/discovery/retired-roots.ts";

const nowMs = Date.UTC(2030, 0, 1);

describe("retired roots", () => {
  let roots: string[];
  before(async () => {
    const created = await Promise.all([1, 2, 3].map(() => createCertificateAuthority("example.org", nowMs)));
    roots = created.map(({ certificatePem }) => certificatePem);
  });
  const root = (index: number): string => roots[index] ?? "";

  it("retired roots are parsed from their text unchanged", () => {
    const retired = roots.map((certificatePem, index) => ({ certificatePem, until: nowMs + index * 1000 }));
    expect(parseRetiredRoots(formatRetiredRoots(retired))).to.deep.equal(retired);
  });

  it("the text of retired roots is a valid trust bundle", () => {
    const text = formatRetiredRoots([{ certificatePem: root(0), until: nowMs }]);
    createSecureContext({ ca: text });
    expect(new X509Certificate(text).ca).to.equal(true);
  });

  it("malformed retired roots are left out", () => {
    const text = formatRetiredRoots([{ certificatePem: root(0), until: nowMs }]);
    expect(parseRetiredRoots("")).to.deep.equal([]);
    expect(parseRetiredRoots(root(0))).to.deep.equal([]);
    expect(parseRetiredRoots(text.replace(/until .*/, "until ::::"))).to.deep.equal([]);
    expect(parseRetiredRoots(text.replace("MII", "AAA"))).to.deep.equal([]);
    expect(parseRetiredRoots(text + "x".repeat(70_000))).to.deep.equal([]);
  });

  it("a retired root ends at its first end time, and the signing root is never retired", () => {
    const known = [
      { certificatePem: root(0), until: nowMs + 1 },
      { certificatePem: root(0), until: nowMs + 2 },
      { certificatePem: root(1), until: nowMs },
      { certificatePem: root(2), until: nowMs + 5 },
    ];
    expect(retiredRootsAt(nowMs, root(2), known)).to.deep.equal([
      { certificatePem: root(0), until: nowMs + 1 },
    ]);
  });

  it("the number of retired roots is limited, and those that end last are kept", () => {
    const known = [...Array(20)].map((_, index) => ({
      certificatePem: `root ${index}`,
      until: nowMs + 1 + index,
    }));
    const kept = retiredRootsAt(nowMs, "", known).map(({ certificatePem }) => certificatePem);
    expect(kept).to.have.length(8);
    expect(kept[0]).to.equal("root 19");
  });
});
