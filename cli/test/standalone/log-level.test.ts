import { expect } from "chai";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

describe("the log level of a running process", () => {
  it("a change at the admin port reaches the workers, and DELETE ends it", () =>
    withGateway(
      {
        manifests: {
          "app.yaml": listOf([
            ingressManifest("web", "a.example", [{ path: "/", service: "web" }]),
            ...serviceManifests("web", [9]),
          ]),
        },
        flags: ["--log", "off,svc_controller=info,svc_proxy=info,svc_proxy::access=off"],
      },
      async ({ adminPort, httpPort, log }) => {
        const page = `http://127.0.0.1:${adminPort}/api/v1/log-level`;
        const ask = (path: string) => fetch(`http://127.0.0.1:${httpPort}${path}`);
        const changed = await fetch(page, { method: "PUT", body: "info" });
        expect(changed.status).to.equal(200);
        await log(({ event, log: level }) => event === "log_level_changed" && level === "info");
        await fetch(`http://127.0.0.1:${adminPort}/metrics`);
        await ask("/logged");
        await log(({ path }) => path === "/logged");
        const reset = (await (await fetch(page, { method: "DELETE" })).json()) as { readonly until: unknown };
        expect(reset.until).to.equal(null);
      },
    ));
});
