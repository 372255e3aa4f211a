import { expect } from "chai";
import { join } from "node:path";
import { locateInFile } from "../../../src/sources/files/locate-in-file.ts";
import { formatPlace } from "../../../src/sources/files/place.ts";
import { createTestFolder, type TestFolder } from "./folder.ts";

const ingresses = `# comment
apiVersion: v1
kind: List
items:
  - apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata: {name: a}
    spec:
      rules:
        - host: a.example.com
  - apiVersion: networking.k8s.io/v1
    kind: Ingress
    metadata:
      name: b
      annotations:
        example.com/one: "1"
    spec:
      rules:
        - host: b.example.com
        - host: c.example.com
          http: {paths: []}
`;

describe("locateInFile", () => {
  let folder: TestFolder;
  beforeEach(async () => {
    folder = await createTestFolder();
    await folder.write("all.yaml", `kind: Other\n---\n${ingresses}`);
  });
  afterEach(() => folder.remove());

  const locate = async (
    line: number,
    column: number,
    ...paths: readonly string[]
  ): Promise<readonly string[]> => {
    const places = await locateInFile({ file: join(folder.path, "all.yaml"), line, column }, paths);
    return paths.map((path) =>
      formatPlace(places.get(path) ?? { file: "", line: 0, column: 0 }).replace(`${folder.path}/`, ""),
    );
  };

  it("a field is found in the object that begins at the given place", async () => {
    const paths = [
      "spec.rules[1].http.paths",
      'metadata.annotations["example.com/one"]',
      "spec.rules[0].host",
    ];
    expect(await locate(13, 5, ...paths)).to.deep.equal([
      "all.yaml:23:18",
      "all.yaml:18:9",
      "all.yaml:21:11",
    ]);
  });

  it("a key that is written without quotes is found", async () => {
    expect(await locate(13, 5, "metadata.annotations[example.com/one]")).to.deep.equal(["all.yaml:18:9"]);
  });

  it("the place of a missing field is the level around it", async () => {
    expect(await locate(7, 5, "spec.rules[0].http.paths", "spec.tls")).to.deep.equal([
      "all.yaml:12:11",
      "all.yaml:10:5",
    ]);
  });

  it("a field of a file that has changed has the place of its object", async () => {
    expect(await locate(9, 5, "spec")).to.deep.equal(["all.yaml:9:5"]);
    const gone = { file: join(folder.path, "gone.yaml"), line: 1, column: 1 };
    expect(await locateInFile(gone, ["spec"])).to.deep.equal(new Map([["spec", gone]]));
  });
});
