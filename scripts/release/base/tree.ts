/**
 * The files of the base packages that an image needs: libraries, root certificates, users and licence texts, but no
 * shell.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ok, type Result } from "@svc-gateway/common/values/result.ts";
import { fetchBasePackages, unpackDebian, type Architecture, type BasePackages } from "./debian.ts";

/** The paths, relative to the root, that are copied from the packages. */
const taken: readonly RegExp[] = [
  // The loader and the libraries that Node.js is linked to, and those that glibc loads to resolve names.
  /^(?:usr\/)?lib(?:64)?\/(?:[\w-]+\/)?(?:ld-|lib(?:c|m|dl|pthread|rt|resolv|nss_dns|nss_files|gcc_s|stdc\+\+)[.-])[\w.+-]*so[\w.]*$/,
  /^(?:etc\/(?:os-release|debian_version)|usr\/lib\/os-release)$/,
  /^usr\/share\/(?:doc\/[^/]+\/copyright|common-licenses\/[^/]+)$/,
  // The documentation folder of a package can be a link to that of another one.
  /^usr\/share\/doc\/[^/]+$/,
];

const users: Readonly<Record<string, string>> = {
  "etc/passwd":
    "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
  "etc/group": "root:x:0:\nnobody:x:65534:\nnonroot:x:65532:\n",
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Writes the base for an architecture into an existing folder. */
export function writeBaseTree(
  folder: string,
  architecture: Architecture,
  packages: BasePackages,
): Result<undefined> {
  const files = fetchBasePackages(architecture, packages);
  if (!files.ok) return files;
  const scratch = mkdtempSync(join(dirname(folder), ".unpacked-"));
  for (const { name, file } of files.value) {
    const control = unpackDebian(file, scratch);
    // The place where image scanners look for packages if there is no dpkg database.
    write(join(folder, "var/lib/dpkg/status.d", name), `${control.trimEnd()}\n`);
  }
  take(scratch, "", folder);
  const authorities = authoritiesIn(join(scratch, "usr/share/ca-certificates"));
  write(join(folder, "etc/ssl/certs/ca-certificates.crt"), authorities.join("\n"));
  for (const [path, text] of Object.entries(users)) write(join(folder, path), text);
  mkdirSync(join(folder, "home/nonroot"), { recursive: true });
  mkdirSync(join(folder, "tmp"));
  chmodSync(join(folder, "tmp"), 0o1777);
  rmSync(scratch, { recursive: true });
  return ok(undefined);
}

function take(from: string, path: string, to: string): void {
  for (const entry of readdirSync(join(from, path), { withFileTypes: true })) {
    const name = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) take(from, name, to);
    else if (taken.some((one) => one.test(name))) {
      mkdirSync(dirname(join(to, name)), { recursive: true });
      if (entry.isSymbolicLink()) symlinkSync(readlinkSync(join(from, name)), join(to, name));
      else copyFileSync(join(from, name), join(to, name));
    }
  }
}

/**
 * The certificates of a folder and of those below it, concatenated in the order of their paths, as by
 * update-ca-certificates.
 */
function authoritiesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".crt"),
  );
  return names.sort().map((name) => readFileSync(join(folder, name), "utf8").trim());
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
