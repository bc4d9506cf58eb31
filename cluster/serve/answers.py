"""Answers to requests, as values that JSON can hold. Fields are those of `--json` where a command has it."""

from typing import Any

from cluster.neighbors import NeighborQuery, choose_oov
from cluster.serve.request_records import EncodeRequest, ExplainRequest, NeighborsRequest, VectorsRequest, oov_of
from cluster.serve.served_version import ServedVersion


def describe_version(served: ServedVersion) -> dict[str, Any]:
    """Return the version that is served, and the size of its table."""
    vectors = served.vectors
    return {
        "status": "ok",
        "version": served.location.version,
        "words": len(vectors),
        "dimensions": vectors.vector_size,
    }


def neighbor_query(request: NeighborsRequest) -> NeighborQuery:
    """Return what a request adds to each of its words, and how unknown words are treated."""
    plus, minus, oov = tuple(request.plus), tuple(request.minus), oov_of(request.oov)
    return NeighborQuery(plus, minus, request.topn, oov, request.case_insensitive)


def look_up_vectors(served: ServedVersion, request: VectorsRequest) -> dict[str, Any]:
    """Return the vector of each word, (d,) float32, and whether it is from the n-grams of the word.

    Raises:
        UnknownWordError: if a word is unknown, and has no vector from its spelling.
    """
    vectors = served.vectors
    unknown = [word for word in dict.fromkeys(request.words) if word not in vectors]
    oov = choose_oov(vectors, unknown, oov_of(request.oov))
    spelled = set(unknown) if oov == "spelling" else set()
    return {
        "vectors": [
            {"word": word, "from_spelling": word in spelled, "vector": vectors.get_vector(word, oov=oov)}
            for word in request.words
        ]
    }


def explain_word(served: ServedVersion, request: ExplainRequest) -> dict[str, Any]:
    """Return the contributions to a vector or to the similarity of two words; see `Explanation`.

    Raises:
        BitcipherError: if there are no counts, or the vectors cannot be explained.
        UnknownWordError: if a word has no row.
    """
    explanation = served.explain(request.word, request.other, request.topn)
    return {
        "words": explanation.words,
        "similarity": explanation.similarity,
        "contributions": [each._asdict() for each in explanation.contributions],
        "ngrams": [each._asdict() for each in explanation.ngrams],
        "rest": explanation.rest,
    }


def encode_texts(served: ServedVersion, request: EncodeRequest) -> dict[str, Any]:
    """Return the embedding of each text, (n, d) float32, of length 1, or zeros without known words.

    Raises:
        BitcipherError: if the vectors have no counts of words, or a text is not valid Unicode.
    """
    return {"embeddings": served.encode(request.texts)}
