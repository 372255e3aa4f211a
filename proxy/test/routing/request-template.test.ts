import assert from "node:assert/strict";
import { parseRequestTemplate } from "@svc-gateway/common/features/request-template.ts";
import {
  compileRequestTemplate,
  compileTemplateParts,
  type TemplateRequest,
} from "../../src/routing/request-template.ts";
import { Fields } from "../../src/message/fields.ts";

const request: TemplateRequest = {
  secure: true,
  host: "app.example.com",
  authority: "App.example.com:8443",
  matchedPath: "/a%20b/c",
  query: "?x=1&Token=a%2Fb&x=2",
  method: "GET",
  clientIp: "192.0.2.7",
  publicPort: { label: "8443" },
  headers: Fields.of(["X-Forwarded-Proto", "https", "X-Forwarded-Host", "outer.example.com"]),
  received: Fields.of([
    ...["Cookie", "a=1; Session=s=2", "Cookie", "b=3"],
    ...["X-Team", "one", "x-team", "two", "X-Forwarded-For", "203.0.113.9"],
    ...["Authorization", `Basic ${Buffer.from("ann\n:pw").toString("base64")}`],
  ]),
  requestId: "0123456789abcdef0123456789abcdef",
};

const evaluate = (text: string, changes: Partial<TemplateRequest> = {}): string => {
  const template = parseRequestTemplate(text);
  assert.ok(template.ok);
  return compileRequestTemplate(template.value)({ ...request, ...changes });
};

describe("a request template", () => {
  it("a template with the header Host has the authority, which is not a field over HTTP/2", () => {
    const evaluateHost = compileRequestTemplate([{ variable: "http", name: "host" }]);
    assert.equal(evaluateHost(request), "App.example.com:8443");
  });

  for (const [text, value] of [
    ["$scheme", "https"],
    ["$host", "app.example.com"],
    ["$http_host", "App.example.com:8443"],
    ["$request_uri", "/a%20b/c?x=1&Token=a%2Fb&x=2"],
    ["$uri", "/a b/c"],
    ["$args", "x=1&Token=a%2Fb&x=2"],
    ["$query_string", "x=1&Token=a%2Fb&x=2"],
    ["$is_args", "?"],
    ["$request_method", "GET"],
    ["$remote_addr", "192.0.2.7"],
    ["$request_id", "0123456789abcdef0123456789abcdef"],
    ["$req_id", "0123456789abcdef0123456789abcdef"],
    ["$server_name", "app.example.com"],
    ["$server_port", "8443"],
    ["$http_x_team", "one, two"],
    ["$http_cookie", "a=1; Session=s=2; b=3"],
    ["$http_absent", ""],
    ["$cookie_session", "s=2"],
    ["$cookie_B", "3"],
    ["$cookie_absent", ""],
    ["$arg_x", "1"],
    ["$arg_token", "a%2Fb"],
    ["$arg_absent", ""],
    ["$escaped_request_uri", "%2Fa%2520b%2Fc%3Fx%3D1%26Token%3Da%252Fb%26x%3D2"],
    ["$pass_access_scheme", "https"],
    ["$best_http_host", "outer.example.com"],
    ["$proxy_add_x_forwarded_for", "203.0.113.9, 192.0.2.7"],
  ] as const) {
    it(`a template ${text} comes to ${JSON.stringify(value)}`, () => assert.equal(evaluate(text), value));
  }

  it("a value of the request is not read as a variable", () => {
    assert.equal(evaluate("$arg_x", { query: "?x=$host" }), "$host");
  });

  it("control characters come out percent-encoded, so that no value can split a header", () => {
    assert.equal(evaluate("$remote_user"), "ann%0A");
    assert.equal(evaluate("$uri", { matchedPath: "/a%0d%0aX:%20y%00" }), "/a%0D%0AX: y%00");
  });

  it("a request without query, cookies and forwarding fields gives empty texts", () => {
    const bare = { query: "", headers: Fields.of([]), received: Fields.of([]), secure: false };
    assert.equal(evaluate("$args$is_args$cookie_a$remote_user$http_x$arg_a", bare), "");
    assert.equal(evaluate("$best_http_host", bare), "App.example.com:8443");
    assert.equal(evaluate("$pass_access_scheme", bare), "http");
    assert.equal(evaluate("$proxy_add_x_forwarded_for", bare), "192.0.2.7");
  });

  it("a parameter or cookie whose name only begins or ends alike is not found", () => {
    assert.equal(evaluate("$arg_a", { query: "?ba=1&ab=2&a" }), "");
    assert.equal(evaluate("$cookie_a", { received: Fields.of(["Cookie", "ba=1; ab=2; a"]) }), "");
  });

  it("the parts of a template can be had apart, so that keys of different values differ", () => {
    const template = parseRequestTemplate("$arg_a$arg_b");
    assert.ok(template.ok);
    const parts = compileTemplateParts(template.value);
    assert.deepEqual(
      parts.map((part) => part({ ...request, query: "?a=1&b=2" })),
      ["1", "2"],
    );
  });
});
