import { expect } from "chai";
import { expectRoutes, explainIngresses } from "./explained.ts";

const regex = { "use-regex": "true" };

describe("regexes of other namespaces", () => {
  const owner = { namespace: "owner", name: "own" };
  const guest = { namespace: "guest", name: "guest", annotations: regex };

  it("an Ingress of another namespace gets regexes for its own paths only, with a finding", async () => {
    const cases = [
      { ...owner, paths: ["Prefix /", "Exact /exact", "Prefix /own"] },
      { ...guest, paths: ["/guest(/|$)(.*)", "/own/x.*"] },
    ];
    await expectRoutes(cases, {
      "/exactly": "own:0.0",
      "/OWN": "own:0.0",
      "/own/y": "own:0.2",
      "/GUEST/x": "guest:0.0",
      "/own/xyz": "guest:0.1",
      "/guests": "own:0.0",
    });
    const { codes } = await explainIngresses(cases);
    expect(codes).to.deep.equal(["HostWideNotYours guest/guest"]);
  });

  it("a regex of another namespace takes no request from paths that have its literal beginning", async () => {
    const cases = [
      { ...owner, paths: ["Prefix /", "Exact /api/x", "Prefix /api"] },
      {
        ...guest,
        paths: ["/(.*)(.*)(.*)(.*)(.*)", "/ap.*aaaaaaaaaaaaaaaaa?a?a?", "/api/x|/api/y", "/api(/|$)(.*)"],
      },
    ];
    await expectRoutes(cases, {
      "/": "own:0.0",
      "/x": "own:0.0",
      "/api/x": "own:0.1",
      "/api/y": "own:0.2",
      "/apaaaaaaaaaaaaaaaaaaa": "guest:0.1",
    });
  });

  it("regexes of another namespace do not precede on a host with regexes what they could take from the owner", async () => {
    const cases = [
      { ...owner, annotations: regex, paths: ["/", "/api/[a-z]+", "/app(/|$)(.*)"] },
      {
        ...guest,
        paths: ["/.*(aaaaaaaaaaaaaaaaaaaaaaaaa)?", "/api/.*(aaaaaaaaaaa)?", "/app/admin(/|$)(.*)", "/x(.*)"],
      },
    ];
    await expectRoutes(cases, {
      "/y": "own:0.0",
      "/api/x": "own:0.1",
      "/api/1": "guest:0.1",
      "/app/admin/x": "guest:0.2",
      "/app/x": "own:0.2",
      "/x": "guest:0.3",
    });
    const { codes } = await explainIngresses(cases);
    expect(codes).to.deep.equal([]);
  });

  it("the regexes of one guest do not depend on those of another", async () => {
    const cases = [
      { ...owner, paths: ["Prefix /", "Prefix /abc"] },
      { ...guest, name: "g1", namespace: "g1", paths: ["/(.*)(.*)(.*)(.*)(.*)(.*)"] },
      { ...guest, name: "g2", namespace: "g2", paths: ["/x(.*)", "/y.*"] },
    ];
    await expectRoutes(cases, { "/x": "g2:0.0", "/y": "g2:0.1", "/z": "own:0.0" });
  });

  it("a prefix of the owner keeps its requests with and without a slash at its end", async () => {
    for (const own of ["Prefix /admin/", "Prefix /admin", "/admin/"]) {
      for (const paths of [["/admin/(.*)"], ["Exact /admin/"], ["/admin(/|$)(.*)"], ["/admin/?.*"]]) {
        const cases = [
          { ...owner, paths: [own] },
          { ...guest, annotations: { "rewrite-target": "/$1" }, paths },
        ];
        await expectRoutes(cases, { "/admin": "own:0.0", "/admin/": "own:0.0", "/admin/x": "own:0.0" });
      }
    }
  });

  it("a prefix of the owner keeps its requests however its characters are escaped", async () => {
    const cases = [
      { ...owner, paths: ["Prefix /a%2Bb", "Prefix /caf%C3%A9"] },
      { ...guest, paths: ["/a\\+b/(.*)", "/caf\u00e9/(.*)", "/c\\+d/(.*)"] },
    ];
    await expectRoutes(cases, {
      "/a%2Bb/x": "own:0.0",
      "/caf%C3%A9/x": "own:0.1",
      "/c%2Bd/x": "guest:0.2",
    });
  });

  it("a regex of the owner keeps its requests, whichever text of another namespace is longer", async () => {
    const long = "(.*)()()()()()()()()()()()()()()()";
    const paths = ["/admin(/|$)(.*)", "/v1.0/users", "/(app)/(.*)", "/t[ab]/x$", "/"];
    const cases = [
      { ...owner, annotations: regex, paths },
      {
        ...guest,
        paths: ["/admin/", "/v1\\.0/", "/v1\\.0/users", "/app/", "/ta/", "/b/"].map((path) => path + long),
      },
    ];
    await expectRoutes(cases, {
      "/admin/x": "own:0.0",
      "/v1.0/users": "own:0.1",
      "/app/x": "own:0.2",
      "/ta/x": "own:0.3",
      "/b/x": "guest:0.5",
    });
  });

  it("an exact path of another namespace takes no request from a prefix of a host with regexes", async () => {
    const cases = [
      { ...owner, paths: ["Prefix /foo"] },
      { ...owner, name: "regex", annotations: regex, paths: ["/x.*"] },
      { ...guest, annotations: {}, paths: ["Exact /foo", "Exact /bar"] },
    ];
    await expectRoutes(cases, { "/foo": "own:0.0", "/foobar": "own:0.0", "/bar": "guest:0.1" });
  });
});

describe("challenges of other namespaces on a host with regexes", () => {
  const labels = { "acme.cert-manager.io/http01-solver": "true" };
  const folder = "/.well-known/acme-challenge";
  const token = "Tok_en-0";
  const owner = { namespace: "owner", name: "own", annotations: { "rewrite-target": "/$1" } };
  const solver = { namespace: "guest", name: "solver", labels };

  it("a challenge of cert-manager gets exactly its own requests", async () => {
    for (const path of [`Exact ${folder}/${token}`, `${folder}/${token}`]) {
      for (const own of [
        "/(.*)",
        "/.*(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa)?",
        "/.well-known/(.*)",
      ]) {
        await expectRoutes(
          [
            { ...owner, paths: [own, "/"] },
            { ...solver, paths: [path] },
          ],
          {
            [`${folder}/${token}`]: "solver:0.0",
            [`${folder}/${token}x`]: "own:0.0",
            [`/.Well-known/acme-challenge/${token}`]: "own:0.0",
            [`${folder}/other`]: "own:0.0",
          },
        );
      }
    }
  });

  it("a challenge takes no request from paths of the owner that serve challenges themselves", async () => {
    for (const own of [`${folder}/(.*)`, "/\\.well-known/acme-challenge/.*", folder]) {
      await expectRoutes(
        [
          { ...owner, paths: [own] },
          { ...solver, paths: [`Exact ${folder}/${token}`] },
        ],
        { [`${folder}/${token}`]: "own:0.0" },
      );
    }
  });

  it("a regex of a third namespace takes no challenge", async () => {
    await expectRoutes(
      [
        { ...owner, paths: ["/(.*)"] },
        {
          ...owner,
          namespace: "third",
          name: "third",
          paths: ["/\\.well-known/acme-challenge/(.*)()()()()()()"],
        },
        { ...solver, paths: [`Exact ${folder}/${token}`] },
      ],
      { [`${folder}/${token}`]: "solver:0.0", [`${folder}/x`]: "third:0.0" },
    );
  });

  it("no other path with the label of challenges, and no challenge without it, precedes the owner", async () => {
    const paths = [
      `${folder}/.*`,
      `${folder}/${token}|/admin`,
      `${folder}/${token}/(.*)`,
      `Prefix ${folder}`,
      `Prefix ${folder}/`,
      "/.well-known/(.*)",
      "/(.*)",
    ];
    const own = { ...owner, paths: ["/(.*)"] };
    const requests = [`${folder}/${token}`, `${folder}/x/y`, "/.well-known/x", "/admin", "/x"];
    const expected = Object.fromEntries(requests.map((request) => [request, "own:0.0"]));
    for (const path of paths) {
      const annotations = { "use-regex": "true" };
      await expectRoutes([own, { ...solver, paths: [path] }], expected);
      await expectRoutes([own, { ...solver, annotations, paths: [path] }], expected);
    }
    await expectRoutes([own, { ...solver, labels: {}, paths: [`Exact ${folder}/${token}`] }], expected);
  });
});
