import { expect } from "chai";
import { explainIngresses } from "./explained.ts";

/** The targets that backends get for paths of requests, or the status. */
async function targets(
  target: string,
  paths: readonly string[],
  requests: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<readonly (string | number | undefined)[]> {
  const annotations = { "rewrite-target": target, ...more };
  const { ask } = await explainIngresses([{ annotations, paths }]);
  return requests.map((path) => {
    const { target: sent, status } = ask(`http://a.example${path}`);
    return sent ?? status;
  });
}

describe("rewrite-target of ingress-nginx", () => {
  it("groups are those of the path that matched, of any type", async () => {
    for (const type of ["", "Prefix ", "Exact "]) {
      expect(
        await targets(
          "/$2",
          [`${type}/something(/|$)(.*)`],
          ["/something/new?a=b", "/something", "/Something/X"],
        ),
        type,
      ).to.deep.equal(["/new?a=b", "/", "/X"]);
    }
  });

  it("each path of an Ingress has its own groups", async () => {
    const paths = ["Prefix /api/(.*)", "Prefix /(.*)"];
    expect(await targets("/v2/$1", paths, ["/api/x", "/y"])).to.deep.equal(["/v2/x", "/v2/y"]);
  });

  it("a target without groups replaces the whole path, and the query stays", async () => {
    expect(await targets("/", ["Prefix /app"], ["/app/x?y=z", "/application"])).to.deep.equal(["/?y=z", "/"]);
  });

  it("a target that is the text of its path does nothing there", async () => {
    expect(await targets("/app", ["Prefix /app"], ["/app/x", "/application"])).to.deep.equal(["/app/x", 404]);
    expect(await targets("/app", ["Prefix /app", "Prefix /b"], ["/app/x", "/b/c"])).to.deep.equal([
      "/app/x",
      "/app",
    ]);
  });

  it("use-regex false beside a target changes nothing", async () => {
    const more = { "use-regex": "false" };
    expect(await targets("/$1", ["/app(/.*)"], ["/APP/x"], more)).to.deep.equal(["//x"]);
  });

  it("a target gets a slash where it does not begin with one, or is empty", async () => {
    expect(await targets("$1", ["/console(/.*)?"], ["/console/x", "/console"])).to.deep.equal(["/x", "/"]);
    expect(await targets("app", ["/console"], ["/console"])).to.deep.equal(["/app"]);
  });

  it("groups are decoded and encoded again", async () => {
    const requests = ["/x/a%2Fb", "/x/caf%C3%A9%20b", "/x/100%25", "/x/a//b", "/x/a%3Fb"];
    expect(await targets("/$1", ["/x/(.*)"], requests)).to.deep.equal([
      "/a/b",
      "/caf%C3%A9%20b",
      "/100%25",
      "/a/b",
      "/a%3Fb",
    ]);
  });

  it("a path that is not rewritten goes upstream as the client wrote it", async () => {
    const { ask } = await explainIngresses([{ annotations: { "use-regex": "true" }, paths: ["/x/(.*)"] }]);
    expect(ask("http://a.example/X/a%2Fb//c").target).to.equal("/X/a%2Fb//c");
  });

  it("a reference to a group has one digit, and a group that is absent is empty", async () => {
    expect(await targets("/$12/$3", ["/(a)(b)?"], ["/a"])).to.deep.equal(["/a2/"]);
  });

  it("a dollar sign without a group's number is invalid, and nothing is rewritten", async () => {
    for (const value of ["/$0", "/$host", "/a$", "/$$1"]) {
      const { ask, codes } = await explainIngresses([
        { annotations: { "rewrite-target": value }, paths: ["Prefix /app"] },
      ]);
      expect(ask("http://a.example/app/x").target, value).to.equal("/app/x");
      expect(codes, value).to.deep.equal(["InvalidAnnotation shop/i0"]);
    }
  });

  it("a value with a query is invalid, and nothing is rewritten", async () => {
    expect(await targets("/?x=$1", ["Prefix /app"], ["/app/x"])).to.deep.equal(["/app/x"]);
  });

  it("a new path that is not canonical gets 400", async () => {
    expect(
      await targets("/public/$1", ["/files(.*)"], ["/files../secret", "/files..%2Fsecret"]),
    ).to.deep.equal([400, 400]);
  });

  it("x-forwarded-prefix is sent with a rewritten path only, and replaces that of the client", async () => {
    const fieldOf = async (annotations: Readonly<Record<string, string>>, path: string): Promise<unknown> => {
      const { answer } = await explainIngresses([{ annotations, paths: ["/app(/|$)(.*)", "Prefix /same"] }]);
      const { upstream } = answer(`http://a.example${path}`, "GET", ["X-Forwarded-Prefix: /client"]);
      return upstream[0]?.headers.filter(({ name }) => name.toLowerCase() === "x-forwarded-prefix");
    };
    const both = { "rewrite-target": "/$2", "x-forwarded-prefix": "/app" };
    expect(await fieldOf(both, "/app/x")).to.deep.equal([{ name: "X-Forwarded-Prefix", value: "/app" }]);
    expect(await fieldOf({ ...both, "x-forwarded-prefix": "/p/$2" }, "/app/a%20b")).to.deep.equal([
      { name: "X-Forwarded-Prefix", value: "/p/a%20b" },
    ]);
    const same = { "rewrite-target": "/same", "x-forwarded-prefix": "/app" };
    const client = [{ name: "X-Forwarded-Prefix", value: "/client" }];
    expect(await fieldOf(same, "/same/x")).to.deep.equal(client);
    expect(await fieldOf({ "x-forwarded-prefix": "/app" }, "/same/x")).to.deep.equal(client);
  });
});
