import type { ShippedPackage } from "../licences/shipped-packages.ts";

/** A package as releases and licence texts describe it. */
export const yaml: ShippedPackage = {
  name: "@scope/yaml",
  version: "2.9.1",
  licence: "ISC",
  texts: ["Permission to use"],
  notices: [],
  copyrights: [],
  integrity: `sha512-${Buffer.alloc(64, 1).toString("base64")}`,
};
