import { expect } from "chai";
import { createOwnPeerCheck, createOwnPortCheck, ownPortsIn } from "../../src/ir/own-port-check.ts";
import { ownPortsKey, sessionKeyKey } from "../../src/ir/keys.ts";
import { noOwnPorts, type OwnPorts } from "../../src/ir/own-ports.ts";
import { decodeResource, encodeResource } from "../../src/ir/resource.ts";

const pods: OwnPorts = {
  addresses: [
    { host: "10.0.0.7", ports: [8081, 8082, 50051] },
    { host: "192.0.2.1", ports: [8082], shared: true },
    { host: "fd00::7", ports: [8082] },
  ],
};

describe("The check for ports of the gateway itself", () => {
  it("the own ports of pods are found in every spelling of their addresses", () => {
    const isOwn = createOwnPortCheck(pods);
    for (const ip of ["10.0.0.7", "::ffff:10.0.0.7", "::ffff:a00:7", "::10.0.0.7", "64:ff9b::a00:7"])
      expect(isOwn(ip, 8082), ip).to.equal(true);
    for (const ip of ["fd00::7", "FD00:0:0:0:0:0:0:7", "fd00::0007"])
      expect(isOwn(ip, 8082), ip).to.equal(true);
    expect(isOwn("192.0.2.1", 8082)).to.equal(true);
  });

  it("other ports of pods and other addresses are not own ports", () => {
    const isOwn = createOwnPortCheck(pods, [8081]);
    expect(isOwn("10.0.0.7", 80)).to.equal(false);
    expect(isOwn("fd00::7", 50051)).to.equal(false);
    expect(isOwn("10.0.0.8", 8082)).to.equal(false);
    expect(isOwn("shop.example", 8082)).to.equal(false);
  });

  it("local ports are found behind loopback, unspecified and link-local addresses", () => {
    const isOwn = createOwnPortCheck(noOwnPorts, [8082]);
    for (const ip of ["127.0.0.1", "127.8.8.8", "0.0.0.0", "::", "::1", "::ffff:127.0.0.1", "fe80::1%lo"])
      expect(isOwn(ip, 8082), ip).to.equal(true);
    expect(isOwn("127.0.0.1", 8080)).to.equal(false);
    expect(isOwn("10.0.0.1", 8082)).to.equal(false);
  });
});

describe("The check for peers that are pods of the gateway", () => {
  it("an address that a pod shares with its node is not an own peer", () => {
    const isOwn = createOwnPeerCheck(pods);
    expect(isOwn("10.0.0.7")).to.equal(true);
    expect(isOwn("::ffff:10.0.0.7")).to.equal(true);
    expect(isOwn("192.0.2.1")).to.equal(false);
    expect(isOwn("127.0.0.1")).to.equal(false);
    expect(isOwn("")).to.equal(false);
  });
});

describe("The own ports of an update", () => {
  const resource = encodeResource<"own-ports">(ownPortsKey, pods);

  it("the own ports of an update are found among its resources", () => {
    const other = { ...resource, key: sessionKeyKey };
    expect(ownPortsIn([other, resource])).to.deep.equal(pods);
    expect(ownPortsIn([other])).to.equal(undefined);
    expect(ownPortsIn([{ ...resource, hash: "0" }])).to.equal(undefined);
  });

  it("the own ports are a resource that every proxy can decode", () => {
    expect(decodeResource(resource)).to.have.nested.property("value.value").that.deep.equals(pods);
  });
});
