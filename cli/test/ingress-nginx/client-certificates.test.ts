import { expect } from "chai";
import { explainIngresses, type IngressCase } from "./explained.ts";

/** Two Ingresses of one namespace and one of another share a host; the first asks for client certificates. */
const sharing = (secret: string, more: IngressCase = {}): readonly IngressCase[] => [
  { annotations: { "auth-tls-secret": secret }, paths: ["Prefix /"], ...more },
  { name: "same", paths: ["Prefix /same"] },
  { name: "other", namespace: "other", paths: ["Prefix /other"] },
];

/** Malformed references, one to another namespace without a grant, and one to a Secret that does not exist. */
const unusable = ["ca", "shop/", "SHOP/ca", "a/b/c", "other/ca", "shop/missing"];

describe("auth-tls-secret of ingress-nginx that cannot be used", () => {
  it("an unusable auth-tls-secret closes the whole host over TLS with 403", async () => {
    for (const secret of unusable) {
      const { answer } = await explainIngresses(sharing(secret, { tls: [{ hosts: ["a.example"] }] }));
      for (const path of ["/x", "/same", "/other"]) {
        const { outcome, clients } = answer(`https://a.example${path}`);
        expect(outcome, `${secret} ${path}`).to.equal("closed");
        expect(clients, `${secret} ${path}`).to.include({ owner: "ingress/shop/i0", status: 403 });
      }
    }
  });

  it("without TLS an unusable auth-tls-secret closes the paths of the namespace with 403, and explain says so", async () => {
    for (const secret of unusable) {
      const { ask } = await explainIngresses(sharing(secret));
      expect(ask("http://a.example/x"), secret).to.deep.equal({ status: 403, route: "shop/i0:0.0" });
      expect(ask("http://a.example/same"), secret).to.deep.equal({ status: 403, route: "shop/same:0.0" });
      expect(ask("http://a.example/other"), secret).to.include({ target: "/other" });
    }
  });

  it("an auth-tls-secret with characters that ingress-nginx refuses closes the paths of its Ingress with 503", async () => {
    for (const secret of ["shop/a b", "shop/ca;", "shop/c$a"]) {
      const { answer, ask } = await explainIngresses(sharing(secret, { tls: [{ hosts: ["a.example"] }] }));
      expect(answer("https://a.example/x").reply.status, secret).to.equal(503);
      expect(ask("https://a.example/same"), secret).to.include({ target: "/same" });
      expect(ask("https://a.example/other"), secret).to.include({ target: "/other" });
    }
  });
});
