/** Annotations about Basic authentication. */
import { referenceForm, textForm, wordForm } from "../values.ts";
import { declare } from "./declare.ts";

export const authType = declare({
  name: "auth-type",
  form: wordForm(["basic", "digest"]),
  bad: "X",
  risk: "Low",
  scope: "location",
  protective: true,
  shownDefault: "none",
  own: ["auth-basic-secret"],
  served: "served",
  meaning: "Whether clients must log in.",
  here: "As there, with `Authorization` kept from the backend; `digest` is answered 503 (`DigestUnsupported`).",
});

export const authSecret = declare({
  name: "auth-secret",
  form: referenceForm({ optionalNamespace: true }),
  bad: "D",
  risk: "Medium",
  scope: "location",
  protective: true,
  shownDefault: "none",
  own: ["auth-basic-secret"],
  served: "served",
  meaning: "The Secret with users and the hashes of their passwords.",
  here: "As there; users with a hash of DES crypt, or with more than 100,000 rounds, cannot log in.",
});

export const authSecretType = declare({
  name: "auth-secret-type",
  form: wordForm(["auth-file", "auth-map"]),
  bad: "X",
  risk: "Low",
  scope: "location",
  protective: true,
  builtIn: "auth-file",
  shownDefault: "`auth-file`",
  served: "served",
  meaning: "Whether the Secret holds a file in key `auth`, or a user in each key.",
  here: "As there.",
});

export const authRealm = declare({
  name: "auth-realm",
  form: textForm("text", /^[A-Za-z0-9\-._~/: ]*$/, "letters, digits, blanks and -._~/:"),
  bad: "X",
  risk: "Medium",
  scope: "location",
  protective: true,
  own: ["auth-basic-realm"],
  builtIn: "",
  shownDefault: "empty",
  served: "served",
  meaning: "The realm of the login.",
  here: "As there; `off`, which switches the login off in ingress-nginx, is answered 503.",
});

export const satisfy = declare({
  name: "satisfy",
  form: wordForm(["any", "all"]),
  bad: "I",
  risk: "Low",
  scope: "location",
  protective: true,
  own: ["satisfy"],
  builtIn: "all",
  shownDefault: "`all`",
  served: "served",
  meaning: "Whether one of address lists, login and `auth-url` is enough.",
  here: "As there.",
  isNeutral: (value) => value === "all",
});
