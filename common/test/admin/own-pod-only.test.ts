import { expect } from "chai";
import { ownPodOnly } from "../../src/admin/own-pod-only.ts";

describe("ownPodOnly", () => {
  const statusFor = async (peer: string): Promise<number> =>
    (await ownPodOnly({ verb: "get", authorization: "Bearer any", path: "/metrics", peer }))?.status ?? 200;

  it("peers on loopback are let in, and no others", async () => {
    for (const peer of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) expect(await statusFor(peer)).to.equal(200);
    for (const peer of ["10.0.0.1", "169.254.1.1", "fe80::1", "::ffff:10.0.0.1", ""])
      expect(await statusFor(peer), peer).to.equal(403);
  });
});
