/**
 * Bills of materials in CycloneDX 1.6 (ECMA-424), created and validated by the library of the specification's
 * authors.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Enums, Models, Serialize, Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { PackageURL } from "packageurl-js";
import type { ShippedPackage } from "../licences/shipped-packages.ts";
import type { TakenOver } from "../licences/taken-over.ts";
import type { Architecture, BasePackages } from "./base/debian.ts";
import { sha256Of } from "./checksums.ts";
import type { NodePackage } from "./node-binary.ts";
import type { ReleaseSource } from "./source.ts";

const root = resolve(import.meta.dirname, "../..");

/** The content of a file of the release. */
export type Contents = {
  /** The kind of the file itself: `svc-gateway` as an image, a package or a chart. */
  readonly subject: "container" | "application" | "file";
  readonly npm: readonly ShippedPackage[];
  /** Sources in this project that others wrote, compiled into the program. */
  readonly takenOver: readonly TakenOver[];
  readonly node?: NodePackage;
  readonly base?: { readonly architecture: Architecture; readonly packages: BasePackages };
};

/** The text of the document. Throws when it does not conform to the schema, which is a defect of this program. */
export async function sbomOf(contents: Contents, source: ReleaseSource): Promise<string> {
  const { version, commit, epochSeconds } = source;
  const subjectTypes = {
    container: Enums.ComponentType.Container,
    application: Enums.ComponentType.Application,
    file: Enums.ComponentType.File,
  };
  const subject = new Models.Component(subjectTypes[contents.subject], "svc-gateway", {
    version,
    bomRef: "svc-gateway",
    licenses: licence("Apache-2.0"),
  });
  subject.properties.add(new Models.Property("svc-gateway:commit", commit));
  const components = [
    ...contents.npm.map(npmComponent),
    ...contents.takenOver.flatMap(sourceComponents),
    ...(contents.node === undefined ? [] : [nodeComponent(contents.node)]),
    ...(contents.base === undefined ? [] : baseComponents(contents.base)),
  ];
  for (const component of components) subject.dependencies.add(component.bomRef);
  const bom = new Models.Bom({
    metadata: new Models.Metadata({ component: subject, timestamp: new Date(epochSeconds * 1000) }),
    components: new Models.ComponentRepository(components),
  });
  const factory = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const text = new Serialize.JsonSerializer(factory).serialize(bom, { sortLists: true, space: 2 });
  const problem = await problemOfSbom(text);
  if (problem !== undefined) throw new Error(`the bill of materials is not valid: ${problem}`);
  return `${text}\n`;
}

/** The violations of the CycloneDX schema in a document, as JSON; undefined if it conforms. */
export async function problemOfSbom(text: string): Promise<string | undefined> {
  const errors = await new Validation.JsonStrictValidator(Spec.Spec1dot6.version).validate(text);
  return errors === null ? undefined : JSON.stringify(errors);
}

const licence = (expression: string): Models.LicenseRepository =>
  new Models.LicenseRepository([
    /^[\w.+-]+$/.test(expression)
      ? new Models.SpdxLicense(expression)
      : new Models.LicenseExpression(expression),
  ]);

const library = (name: string, options: Models.OptionalComponentProperties): Models.Component =>
  new Models.Component(Enums.ComponentType.Library, name, options);

function npmComponent({ name, version, licence: expression, integrity }: ShippedPackage): Models.Component {
  const [group, short] = name.includes("/") ? name.split("/") : [undefined, name];
  const purl = new PackageURL("npm", group, short ?? name, version, undefined, undefined).toString();
  return library(short ?? name, {
    ...(group !== undefined && { group }),
    version,
    purl,
    bomRef: purl,
    licenses: licence(expression ?? "NOASSERTION"),
    hashes: hashes(integrity),
  });
}

/** Components for files without a version and a package, which are identified by their digest and origin. */
const sourceComponents = ({
  name,
  files,
  licence: expression,
  repositories,
}: TakenOver): readonly Models.Component[] =>
  files.map(
    (file) =>
      new Models.Component(Enums.ComponentType.File, file, {
        bomRef: file,
        description: name,
        licenses: licence(expression),
        hashes: new Models.HashDictionary([
          [Enums.HashAlgorithm["SHA-256"], sha256Of(readFileSync(resolve(root, file)))],
        ]),
        externalReferences: new Models.ExternalReferenceRepository(
          repositories.map((url) => new Models.ExternalReference(url, Enums.ExternalReferenceType.VCS)),
        ),
      }),
  );

function nodeComponent({ name, version, integrity }: NodePackage): Models.Component {
  const purl = new PackageURL("npm", undefined, name, version, undefined, undefined).toString();
  return new Models.Component(Enums.ComponentType.Platform, "node", {
    version,
    purl,
    bomRef: purl,
    description: "Node.js, with what is compiled into it",
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    licenses: licence("MIT"),
    hashes: hashes(integrity),
  });
}

function baseComponents({
  architecture,
  packages,
}: NonNullable<Contents["base"]>): readonly Models.Component[] {
  return packages.packages.map(({ name, version, licence: expression, sha256 }) => {
    const qualifiers = { arch: architecture, distro: packages.release };
    const purl = new PackageURL("deb", "debian", name, version, qualifiers, undefined).toString();
    return library(name, {
      group: "debian",
      version,
      purl,
      bomRef: purl,
      licenses: licence(expression),
      hashes: new Models.HashDictionary([[Enums.HashAlgorithm["SHA-256"], sha256[architecture]]]),
    });
  });
}

/** Subresource integrity as a hash in hexadecimal. */
function hashes(integrity: string | undefined): Models.HashDictionary {
  if (integrity?.startsWith("sha512-") !== true) return new Models.HashDictionary();
  const hex = Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex");
  return new Models.HashDictionary([[Enums.HashAlgorithm["SHA-512"], hex]]);
}
