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

  it("come back from text as they were", () => {
    const retired = roots.map((certificatePem, index) => ({ certificatePem, until: nowMs + index * 1000 }));
    expect(parseRetiredRoots(formatRetiredRoots(retired))).to.deep.equal(retired);
  });

  it("are a trust bundle as they stand", () => {
    const text = formatRetiredRoots([{ certificatePem: root(0), until: nowMs }]);
    createSecureContext({ ca: text });
    expect(new X509Certificate(text).ca).to.equal(true);
  });

  it("are left out when they have another form", () => {
    const text = formatRetiredRoots([{ certificatePem: root(0), until: nowMs }]);
    expect(parseRetiredRoots("")).to.deep.equal([]);
    expect(parseRetiredRoots(root(0))).to.deep.equal([]);
    expect(parseRetiredRoots(text.replace(/until .*/, "until ::::"))).to.deep.equal([]);
    expect(parseRetiredRoots(text.replace("MII", "AAA"))).to.deep.equal([]);
    expect(parseRetiredRoots(text + "x".repeat(70_000))).to.deep.equal([]);
  });

  it("end at their time, which is the first that they got, and never include the root that signs", () => {
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

  it("are bounded; those that last longest stay", () => {
    const known = [...Array(20)].map((_, index) => ({
      certificatePem: `root ${index}`,
      until: nowMs + 1 + index,
    }));
    const kept = retiredRootsAt(nowMs, "", known).map(({ certificatePem }) => certificatePem);
    expect(kept).to.have.length(8);
    expect(kept[0]).to.equal("root 19");
  });
});
