import { expect } from "chai";
import { connectionLimit } from "../../src/worker/connection-limit.ts";
import { descriptorShares } from "../../src/worker/descriptor-shares.ts";

const mebibyte = 1024 * 1024;
const many = Number.POSITIVE_INFINITY;

describe("the limit of client connections", () => {
  const warnings: object[] = [];
  const log = { warn: (fields: object) => void warnings.push(fields) };
  beforeEach(() => (warnings.length = 0));

  const limit = (asked: number, mebibytes: number, descriptors: number, workers = 1): number =>
    connectionLimit(asked, { memoryBytes: mebibytes * mebibyte, descriptors, workers }, log);

  it("the connection limit is one per 128 KiB of memory, at most 50 000, unless configured", () => {
    expect(limit(0, 1024, many)).to.equal(8192);
    expect(limit(0, 65_536, 1_048_576)).to.equal(50_000);
    expect(limit(0, 0, many)).to.equal(1);
    expect(limit(70_000, 1024, 1_048_576)).to.equal(70_000);
    expect(warnings).to.deep.equal([]);
  });

  it("the connection limit leaves more than half of the file descriptors to others, also where it is configured", () => {
    for (const asked of [0, 1_000]) {
      warnings.length = 0;
      expect(limit(asked, 65_536, 1024)).to.equal(484);
      expect(warnings).to.deep.equal([
        { connections: 484, wanted_connections: asked === 0 ? 50_000 : asked, descriptors: 1024 },
      ]);
    }
    expect(limit(484, 65_536, 1024)).to.equal(484);
    expect(warnings).to.have.length(1);
  });

  it("the connection limit is that of all workers together, and leaves the descriptors that each of them needs", () => {
    expect(limit(0, 65_536, 1024, 16)).to.equal(424);
    expect(limit(0, 65_536, 16, 16)).to.equal(1);
  });

  it("UDP sessions and idle connections to backends take at most a quarter each of what the process does not need", () => {
    expect(descriptorShares(1024, 1)).to.deep.equal({
      connections: 484,
      udpSessions: 242,
      idleUpstreams: 242,
    });
    expect(descriptorShares(many, 4)).to.deep.equal({
      connections: many,
      udpSessions: many,
      idleUpstreams: many,
    });
    expect(descriptorShares(16, 4)).to.deep.equal({ connections: 1, udpSessions: 0, idleUpstreams: 0 });
  });
});
