//! Key pairs for tests only, generated for this file.

/// PKCS #1, base64.
pub(crate) const RSA_PRIVATE: &str = concat!(
    "MIIEogIBAAKCAQEAyazKFGOTEOdGbDjDl2zmKYWt0vZ6oeYEpJAeI4kccin++4IDXBO4ZYTQ8/3RejFH3TekNd22GGnY2Fhu",
    "BvyF8nk+A35ArzS9dl7ezlOB9navb2GvGDauUexj2Fz0ypcPh1MDNKx0kueAmInMu5AiLOFYtxyLbSz9Dd25ngKa7S0GY5qk",
    "S+8ZlFkMFiywOcpGzX9PA8kchDjk7t8fsV4lQ3Tckr/e+ipXQpPYOlV/tg4u4v5t45H57r/Tlncb4mq41B4uweECz9caucCv",
    "qGgQGWgyxTJp9KP/mc8cfWk3/nvrJrjiZ0ZmwbLa6AiZfWePZvpISpM/slwhJICFOK7MsQIDAQABAoIBAE6+hcTCQGkINIoK",
    "++vDHHc39+/4R1exjTyH/QyY+59j4GhpklBAbu5Mlp2+DC2u0kWA9UAHCpOruHx4wrU9ojtTta/9etouOI/gaRScrJEENGnD",
    "9W754sSgDTgsy3PS2cBX3FeTwoydkat9mo/drkphzpbosVP2jfP9D/2vPLi/+uM5HEz2GFsJjYpqQXMMsuLrBVGiLCjEOq5n",
    "RJ3z15ED8khw/6SXRYwLxP3T11r84jfQ5wRVFLJvPCCJQ6brysi6FTSZDV7o9o2MHEBc6mE2vnAwfmBL/0T0N1z7mP+kgkTB",
    "dWaQ2RoY8Fq8am3n3UB4EKCR+jjdAWQtLXAxcoUCgYEA9KROV54ccL5b2kTE+n8ouWdBIMR+MUMUwSHdaLY05cGMPc5I3/of",
    "OBENZp7guNWkxRkkn5C8H5fwx+DApOI69MbIrqQ9JJjG8BIO9N5Mq9i80t9x6TaZpKiwO06+wCaHGL6oa+GBhbAIj2Y528td",
    "A5S4ZB2U8W9ldpzeE0nbv9MCgYEA0wnM0cukSVLS1zMKAs8g3iC+dBIZK27Bw1pgwWIkCmfzz9/p70R71DKz18kB5UqYUkLp",
    "X9LhIJ/H4xWricwFDOh/3oyvbF3WIxYx8l5eeRccPx/B8BegDcyZnoL7he1e1p2cK+PlovZ+PdMOBsst1vrzowBbsBrvHs7W",
    "5sT3susCgYBwGiZoEeS4aRJQB3k3zDMOGlmGuWOWEUYeZfU+OVgt/C3WWIOeVtAdcfrxDlatfAC/7JCSqdD6rTZBcST1qVEY",
    "v0pQdKQr8/IdKjk+TetWR7/m5Usecc2f3Ui8NI5GIKGBXkRxAunGJ+8UPuS+agbaUDjab4/DvqcA3ksJDawrzwKBgDgnHWad",
    "RuNztEIqhHlm35n7IHIF9siFueze+Wu7T1etfURMkhRmJoS50PyTsXtvM8R/pVUn6Vsi6K7Vr0UFEjrzCkMPMAYnmbjQSQ3y",
    "ajTSH2P0cUgPITlKvX1d4Msr89YrLcjH5OxNph2RMORB37qaH4W5rKvZHtMVujzBIB9tAoGAYnVZ3d4r22F13WRjKpTwFxgd",
    "fuzoygUBc/GMSK71s9dKvv1+ZSGkFvV28dFqV/j3qvq/XTOrhFMIxId8z2cdtq4awJPeYFd7ljXB80A5MTy4Zy1EBGoxlmvs",
    "R2RbyAwt0+LtWdOsr6FplH5szHSvvOY0Fe5tsnYo3Qui+IEpcoc=",
);
pub(crate) const RSA_N: &str = concat!(
    "yazKFGOTEOdGbDjDl2zmKYWt0vZ6oeYEpJAeI4kccin--4IDXBO4ZYTQ8_3RejFH3TekNd22GGnY2FhuBvyF8nk-A35ArzS9",
    "dl7ezlOB9navb2GvGDauUexj2Fz0ypcPh1MDNKx0kueAmInMu5AiLOFYtxyLbSz9Dd25ngKa7S0GY5qkS-8ZlFkMFiywOcpG",
    "zX9PA8kchDjk7t8fsV4lQ3Tckr_e-ipXQpPYOlV_tg4u4v5t45H57r_Tlncb4mq41B4uweECz9caucCvqGgQGWgyxTJp9KP_",
    "mc8cfWk3_nvrJrjiZ0ZmwbLa6AiZfWePZvpISpM_slwhJICFOK7MsQ",
);
pub(crate) const RSA_E: &str = "AQAB";

/// A key that is not in the issuer's set.
pub(crate) const STRANGER_PRIVATE: &str = concat!(
    "MIIEpAIBAAKCAQEAySAvMS4hHsGnV2AVdZHcBYPZAl/gNnhszmSyJC2T+PjFUkSkFMAzW+n6FyDPvFOjKeIdTg1iD0iDaRIl",
    "GgFZAnf+ptXGifjubvdPz5751GsKAUZMtI2onRyrW5pSvhmW+irscE8SZXKx6Ok9DXg5TUR4UdfUmQvw5b8t223dSmtHTALx",
    "BcRNfiUqRrXgb2aURZq3/e+VFTceNytwQi0iBuNWpdDIUq9SdTpGAeqkVTLC3TcM+zXUbTrcmYnwD9GOpLDrnNgwQr3ODAr/",
    "xc6x8czcU63peaEl8WYULvP1aedDduH/KEnzPvV0hu2Ftiad8e2DPTqAA46+kqj0NaNJ2QIDAQABAoIBAEL4In6fu4uAM/ZW",
    "Gg8h2D9F3bZ6si+w/Znj0aVWP9VBEIMKNBBsxy0txYZ5+HHe7498qQFaV3J7VLZhwlTcagT2a6alvAwpBUuRsdOSPeHLGnO+",
    "MsBUAvb9mtlPk4mU/76hGEV1Lsz02eSR9TBM/deKmv21fibP4RC/Dcfo1yx14Hk1LPtoRiEzQaMkGy+4jlFAi2ufumLcnCyE",
    "Xk4f3kYqabI6MyowbTOlCpUmL1PinhRxCm4n1BY5ghyGm/6ZYoki4PVeVh5HDgwY4AuvrAl7+8kFAEXk4WLy3v14sUXXUKXV",
    "k6I0HmFfz8W5MiFLjBqk06ahrhwaPXT1zQRulTkCgYEA+DWPz/a9imQ43vrhItb1W9WayDK/BmDVDy9NRZpIj+Hn4HzNTsDa",
    "QjmVvguspy4cCJrEZBBG4pgEeF/y23rPo6XVppi+MhOW8pTgy+S8JRvMX5ct/w1egOLClm2EgtxS/EMrbveunxDmucquzKZE",
    "bS4R89PSRqro8nxlz9DZFvMCgYEAz3BKv3KWN7djMUuHbXkNaQfc4DBqypj9lHL30zSAf5XOQDZXblmY6ZzeYxmXWihPOdAm",
    "C1pCm/uUGNbf7PCKzwWk4dw/NeaLfAGbSl+J+lJ4dbuTTdjC2kWzxmRE7LFgTYX+Y20Gl8IOn0Qg+V3+hFAhH4xxz75sk8NC",
    "rFVDJwMCgYEA3d9LMbQ3VDkomTIcA/+xDilQFfs+xN3UNqGq6jfy+yMOGp6VC/vaXm6JS3u2Fy9hgdOPEH94Td9jx5LFTapn",
    "Z7q61BQfmDXoremlVL2f7W/+7cf/Jsn1mzKYjM1TMYLvb24/qg8fejMqfBQQ0wEhk5MmGxZTFjZ6yx+mBvGCzT8CgYALG1MV",
    "Pxhl8U7BU+7zYJjkN8SOyGjfYiOpsCIuz8/VhPrfG0nBIdD7KSgLHFKrRB9B1DBFSVbprSW30sF4mUSFYyL56OYFh8uOHzPm",
    "XokvuvyyKRHxCBsevr6qb7H1DmY+oF8Hic3hkEViJ66wS2UWRogPfWCWo/aCTuEiAwquawKBgQChBQD2OHdElv2qLsk34R7z",
    "U5z6uO9Zy8pTFQuHZT877QAzbapjeswvYX6jEwIQeZZ9E6pfeU2DweGCe8P8Bmm40D4e+bkQZ62K7Qi5xKmwy91mvzdglNNC",
    "fdh9ugMjh8RK9nK7h/a7bcNVscP2IrdxV0UNYuIrqD0nshPlIY6iww==",
);
pub(crate) const STRANGER_N: &str = concat!(
    "ySAvMS4hHsGnV2AVdZHcBYPZAl_gNnhszmSyJC2T-PjFUkSkFMAzW-n6FyDPvFOjKeIdTg1iD0iDaRIlGgFZAnf-ptXGifju",
    "bvdPz5751GsKAUZMtI2onRyrW5pSvhmW-irscE8SZXKx6Ok9DXg5TUR4UdfUmQvw5b8t223dSmtHTALxBcRNfiUqRrXgb2aU",
    "RZq3_e-VFTceNytwQi0iBuNWpdDIUq9SdTpGAeqkVTLC3TcM-zXUbTrcmYnwD9GOpLDrnNgwQr3ODAr_xc6x8czcU63peaEl",
    "8WYULvP1aedDduH_KEnzPvV0hu2Ftiad8e2DPTqAA46-kqj0NaNJ2Q",
);

/// PKCS #8, base64.
pub(crate) const EC_PRIVATE: &str = concat!(
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/vocAq9yebgdjcUYRB5MmvNdmQUbKp3o5Gex1Y1KCmqhRANC",
    "AAQabKP1ncgi9/8aQbKvkmBY4VUk5hxlTmomr9NIG4afcppIBQxt7TBXkbKupRYuQtBT4Lm/fswvBF8ylExfU+1E",
);
pub(crate) const EC_X: &str = "Gmyj9Z3IIvf_GkGyr5JgWOFVJOYcZU5qJq_TSBuGn3I";
pub(crate) const EC_Y: &str = "mkgFDG3tMFeRsq6lFi5C0FPgub9-zC8EXzKUTF9T7UQ";

/// PKCS #8, base64.
pub(crate) const ED_PRIVATE: &str =
    "MC4CAQAwBQYDK2VwBCIEIOKzVjhoySi676SaF0HGsmelcPzbWK1/srFGlYiJRwd9";
pub(crate) const ED_X: &str = "0lCMgXzT0CVhhOYANAkD2cVFn8nPfOxZjS0JE_QWNqY";
