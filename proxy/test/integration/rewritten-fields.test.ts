import type { RequestListener } from "node:http";
import type { RequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import type { ResponseHeaders } from "@svc-gateway/common/features/response-headers.ts";
import { expect } from "chai";
import type { Plan } from "./gateway.ts";
import { serveRoute, type ServedRoute } from "./served-route.ts";

describe("fields that are filled in or rewritten, through the whole data plane", () => {
  let served: ServedRoute | undefined;

  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  const serve = async (
    features: NonNullable<Plan["features"]>,
    respond?: RequestListener,
  ): Promise<ServedRoute> => (served = await serveRoute(features, respond));

  const template = (...value: RequestTemplate) => value;

  it("request-headers: templates fill in the host and fields, and an empty value removes the field", async () => {
    const { ask, seen, gateway } = await serve({
      "request-headers": {
        set: [{ name: "X-Fixed", value: "1" }],
        templates: [
          { name: "host", value: template({ variable: "http", name: "x-tenant" }, ".internal.example") },
          { name: "X-Uri", value: template({ variable: "request_uri" }, "!") },
          { name: "X-Empty", value: template({ variable: "arg", name: "none" }) },
        ],
      },
    });
    await ask("/a?b=c", { headers: { "x-tenant": "blue", "x-uri": "client", "x-empty": "client" } });
    expect(seen[0]?.message.headers).to.include({
      host: "blue.internal.example",
      "x-forwarded-host": "a.example",
      "x-uri": "/a?b=c!",
      "x-fixed": "1",
    });
    expect(seen[0]?.message.headers).not.to.have.property("x-empty");
    expect(gateway.records[0]?.host).to.equal("a.example");
  });

  it("request-headers: a host template that comes out as no host leaves the host of the request", async () => {
    const { ask, seen } = await serve({
      "request-headers": {
        templates: [{ name: "Host", value: template({ variable: "http", name: "x-to" }) }],
      },
    });
    for (const to of ["", "a b", "evil/path", "a@b", "x:99999999", "ok.example:81"]) {
      await ask("/", { headers: { "x-to": to } });
    }
    expect(seen.map(({ message }) => message.headers.host)).to.deep.equal([
      ...["a.example", "a.example", "a.example", "a.example", "a.example"],
      "ok.example:81",
    ]);
  });

  const cookies = async (change: ResponseHeaders, ...lines: string[]): Promise<readonly string[]> => {
    const { ask } = await serve({ "response-headers": change }, (_, response) => {
      response.setHeader("Set-Cookie", lines);
      response.end();
    });
    return (await ask("/")).headers["set-cookie"] ?? [];
  };

  it("response-headers: the domain of cookies is replaced as a whole, without case and leading dot", async () => {
    const change = { cookieDomain: { from: "Old.example", to: "new.example" } };
    const answer = await cookies(
      change,
      "a=domain=old.example; Domain=old.example; Path=/",
      "b=2; domain = .OLD.example ;HttpOnly",
      "c=3; Domain=sub.old.example",
      "d=4; Domain=old.example.evil",
      "e=5; Domain",
      "f=6",
    );
    expect(answer).to.deep.equal([
      "a=domain=old.example; Domain=new.example; Path=/",
      "b=2; domain = .new.example ;HttpOnly",
      "c=3; Domain=sub.old.example",
      "d=4; Domain=old.example.evil",
      "e=5; Domain",
      "f=6",
    ]);
  });

  it("response-headers: the beginning of the path of cookies is replaced, with case", async () => {
    const change = { cookiePath: { from: "/one", to: "/two$&" } };
    const answer = await cookies(
      change,
      "a=/one; Path=/one/x; Secure",
      "b=2; path=/oneself",
      "c=3; Path=/One",
    );
    expect(answer).to.deep.equal(["a=/one; Path=/two$&/x; Secure", "b=2; path=/two$&self", "c=3; Path=/One"]);
  });

  it("response-headers: Location and Refresh of the backend begin with another URL", async () => {
    const { ask } = await serve(
      { "response-headers": { location: { from: "http://inner:8080/app/", to: "https://a.example/" } } },
      (request, response) => {
        const to =
          request.url === "/other" ? "http://other/app/" : "http://inner:8080/app/x?y=http://inner:8080/app/";
        response.writeHead(302, { Location: to, Refresh: `5; URL=${to}` }).end();
      },
    );
    const { headers } = await ask("/");
    expect([headers.location, headers["refresh"]]).to.deep.equal([
      "https://a.example/x?y=http://inner:8080/app/",
      "5; URL=https://a.example/x?y=http://inner:8080/app/",
    ]);
    expect((await ask("/other")).headers.location).to.equal("http://other/app/");
  });

  it("response-headers: redirects of the proxy itself keep their location", async () => {
    const { ask } = await serve({
      redirect: { hostname: "b.example", statusCode: 302 },
      "response-headers": { location: { from: "http://b.example", to: "http://wrong.example" } },
    });
    expect((await ask("/x")).headers.location).to.match(/^http:\/\/b\.example(:\d+)?\/x$/);
  });
});
