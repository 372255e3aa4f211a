import { expect } from "chai";
import { grpcTarget, resolveEndpoint, systemLookup } from "@svc-gateway/proxy/source/addresses.ts";

const endpoint = { host: "svc-controller-discovery.svc-system.svc", port: 50051 };
const lookupOf = (addresses: readonly string[]) => () => Promise.resolve(addresses);

describe("addresses of controllers", () => {
  it("a controller name resolves to all its addresses, each once, in an order that differs per proxy", async () => {
    const addresses = ["10.0.0.1", "10.0.0.2", "10.0.0.1", "fd00::1"];
    const resolve = async (random: number): Promise<readonly string[]> => {
      const result = await resolveEndpoint(endpoint, lookupOf(addresses), () => random);
      return result.ok ? result.value.map(({ host, port }) => `${host} ${port}`) : [];
    };
    const [first, second] = [await resolve(0), await resolve(0.99)];
    expect(first).to.have.members(["10.0.0.1 50051", "10.0.0.2 50051", "fd00::1 50051"]);
    expect(second).to.have.members([...first]);
    expect(second).not.to.deep.equal(first);
  });

  it("an IP address is used without a lookup", async () => {
    const lookup = (): never => expect.fail("looked up");
    expect(await resolveEndpoint({ host: "fd00::1", port: 1 }, lookup, Math.random)).to.deep.equal({
      ok: true,
      value: [{ host: "fd00::1", port: 1 }],
    });
  });

  it("the number of controller addresses is limited to 32", async () => {
    const many = [...Array(1000)].map((_, index) => `10.0.${index >> 8}.${index & 255}`);
    const result = await resolveEndpoint(endpoint, lookupOf(many), Math.random);
    expect(result.ok && result.value.length).to.equal(32);
  });

  it("a controller name without address, or a failing resolver, is an error", async () => {
    expect((await resolveEndpoint(endpoint, lookupOf([]), Math.random)).ok).to.equal(false);
    const failing = await resolveEndpoint(
      endpoint,
      () => Promise.reject(new Error("ENOTFOUND")),
      Math.random,
    );
    expect(failing).to.deep.equal({
      ok: false,
      error: { message: "svc-controller-discovery.svc-system.svc cannot be resolved: ENOTFOUND" },
    });
  });

  it("controller names are resolved by the system resolver", async () => {
    expect(await systemLookup("localhost")).to.satisfy((found: readonly string[]) =>
      found.some((address) => address === "127.0.0.1" || address === "::1"),
    );
  });

  it("the gRPC target of an address needs no resolver", () => {
    expect(grpcTarget({ host: "10.0.0.1", port: 50051 })).to.equal("ipv4:10.0.0.1:50051");
    expect(grpcTarget({ host: "fd00::1", port: 50051 })).to.equal("ipv6:[fd00::1]:50051");
  });
});
