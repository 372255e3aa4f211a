import assert from "node:assert/strict";
import {
  identifiesClient,
  literalOf,
  parseRequestTemplate,
  requestTemplateSchema,
  templateText,
  templateVariables,
  variableText,
} from "../../src/features/request-template.ts";

const parsed = (text: string, options = {}) => {
  const result = parseRequestTemplate(text, options);
  assert.ok(result.ok, result.ok ? "" : result.error.message);
  return result.value;
};
const refused = (text: string, options = {}): string => {
  const result = parseRequestTemplate(text, options);
  assert.ok(!result.ok);
  return result.error.message;
};

describe("parseRequestTemplate", () => {
  it("a text is split into literals and variables", () => {
    assert.deepEqual(parsed("https://$host/oauth2/auth?x=${arg_A}b"), [
      "https://",
      { variable: "host" },
      "/oauth2/auth?x=",
      { variable: "arg", name: "a" },
      "b",
    ]);
  });

  it("a field of a name with _ is read as one with - and without case", () => {
    assert.deepEqual(parsed("$http_X_Auth_Token$cookie__session"), [
      { variable: "http", name: "x-auth-token" },
      { variable: "cookie", name: "_session" },
    ]);
  });

  it("$http_host is the Host of the request and not a field of that name", () => {
    assert.deepEqual(parsed("$http_host"), [{ variable: "http_host" }]);
  });

  it("the longest name that follows a $ is the variable", () => {
    assert.match(refused("$hostx"), /\$hostx is unknown/);
    assert.deepEqual(parsed("${host}x"), [{ variable: "host" }, "x"]);
  });

  it("what the controller knows is filled in, and nothing else is known", () => {
    assert.deepEqual(
      parsed("$service_name.$namespace.svc", { statics: { namespace: "a", service_name: "b" } }),
      ["b.a.svc"],
    );
    assert.match(refused("$namespace"), /\$namespace is unknown/);
    assert.match(refused("$constructor", { statics: {} }), /unknown/);
    assert.match(refused("$toString", { statics: {} }), /unknown/);
  });

  it("a value that the controller fills in is not read as a variable", () => {
    assert.deepEqual(parsed("$namespace", { statics: { namespace: "$host" } }), ["$host"]);
  });

  it("groups of a regular expression are unknown, because only a rewrite has them", () => {
    assert.match(refused("/x/$1"), /\$1 is unknown/);
    assert.match(refused("/x/${9}"), /\$9 is unknown/);
  });

  it("a $ without a name, unclosed braces and control characters are refused", () => {
    assert.match(refused("a$"), /no variable follows/);
    assert.match(refused("$ host"), /no variable follows/);
    assert.match(refused("${host"), /no variable follows/);
    assert.match(refused("$0"), /no variable follows/);
    assert.match(refused("a\nb"), /control character/);
    assert.match(refused("a\tb"), /control character/);
  });

  it("a text of too many parts or characters is refused", () => {
    assert.match(refused("$host/".repeat(17)), /more than 32 parts/);
    assert.match(refused("x".repeat(5_000)), /longer than/);
  });

  it("characters outside ASCII are held as octets", () => {
    assert.deepEqual(parsed("é"), ["\u00c3\u00a9"]);
    assert.equal(templateText(parsed("é$host")), "é${host}");
  });

  it("an empty text gives an empty template", () => assert.deepEqual(parsed(""), []));

  it("a template is what the schema of the snapshot takes", () => {
    const template = parsed("$host-$arg_b-$cookie_a");
    assert.deepEqual(requestTemplateSchema.parse(JSON.parse(JSON.stringify(template))), template);
  });

  it("credentials, cookies, own fields and addresses identify a client, and other variables do not", () => {
    const identifying =
      "$http_authorization$cookie_a$http_x_token$remote_user$remote_addr$binary_remote_addr";
    assert.ok(templateVariables(parsed(identifying)).every(identifiesClient));
    const shared = "$host$http_host$http_user_agent$request_uri$arg_token$http_accept$scheme$request_method";
    assert.ok(!templateVariables(parsed(shared)).some(identifiesClient));
  });

  it("a template can be written as text again", () => {
    const template = parsed("$scheme://$http_x_y$cookie_a");
    assert.equal(templateText(template), "${scheme}://${http_x_y}${cookie_a}");
    assert.deepEqual(templateVariables(template).map(variableText), ["$scheme", "$http_x_y", "$cookie_a"]);
    assert.equal(literalOf(template), undefined);
    assert.equal(literalOf(parsed("a")), "a");
  });
});
