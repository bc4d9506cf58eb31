"""A script of gensim's verbs, which `test_migration.py` also runs with bitcipher: only the first import changes."""

from gensim.models import KeyedVectors

results = {}
wv = KeyedVectors.load_word2vec_format("vectors.bin", fvocab="vectors.vocab", binary=True)
results["sizes"] = [len(wv), wv.vector_size, wv.vectors.shape, wv.index_to_key[:3], wv.key_to_index["w2"]]
results["lookup"] = ["w1" in wv, wv.has_index_for("nowhere"), wv.get_index("w3"), wv["w1"], wv[["w1", "w2"]]]
results["vector"] = [wv.get_vector("w1", norm=True), wv.get_mean_vector(["w1", "w2", "nowhere"])]
results["most_similar"] = wv.most_similar(positive=["w1", "w2"], negative=["w3"], topn=5)
results["weights"] = wv.most_similar([("w1", 2.0), "w2"], topn=3)
results["clipped"] = wv.most_similar("w1", topn=4, clip_start=10, clip_end=30)
results["restricted"] = wv.most_similar("w1", topn=4, restrict_vocab=20)
results["all"] = wv.most_similar("w1", topn=None)
results["cosmul"] = wv.most_similar_cosmul(positive=["w1", "w2"], negative=["w3"], topn=5)
results["cosmul_all"] = wv.most_similar_cosmul("w1", topn=None)
results["by"] = [wv.similar_by_key("w5", 3), wv.similar_by_word("w5", 3), wv.similar_by_vector(wv["w5"], 3)]
results["pairs"] = [wv.similarity("w1", "w2"), wv.distance("w1", "w2"), wv.n_similarity(["w1"], ["w2", "w3"])]
results["distances"] = wv.distances("w1", ["w2", "w3"])
results["match"] = [wv.doesnt_match(["w1", "w2", "w9"]), wv.most_similar_to_given("w1", ["w2", "w3", "w4"])]
results["order"] = [wv.closer_than("w1", "w2"), wv.rank("w1", "w2")]
results["wmd"] = [wv.wmdistance(["w1", "w2", "w2"], ["w2", "w3"]), wv.wmdistance(["nowhere"], ["w1"])]
results["wmd_raw"] = wv.wmdistance(["w1", "w4"], ["w2", "w3", "w3"], norm=False)
wv.fill_norms()
results["normed"] = [wv.norms[:5], wv.get_normed_vectors()[:5]]
wv.set_vecattr("w1", "sense", 3)
wv.set_vecattr("w2", "label", "noun")
results["attributes"] = [wv.get_vecattr("w1", "sense"), wv.get_vecattr("w2", "sense"), wv.get_vecattr("w2", "label")]
wv.add_vectors(["newer", "w4"], [wv["w2"], wv["w3"]])
wv.add_vector("new", wv["w1"] * 2)
wv.fill_norms(force=True)
results["added"] = [len(wv), wv["new"], wv["w4"], wv.most_similar("newer", topn=2), wv.get_vecattr("new", "sense")]
wv.add_vectors(["w4"], [wv["w3"]], replace=True)
results["replaced"] = [len(wv), wv["w4"], wv.key_to_index["newer"]]
subset = wv.vectors_for_all(["w3", "nowhere", "w1", "w3"], copy_vecattrs=True)
results["subset"] = [subset.index_to_key, subset.vectors, subset.get_vecattr("w1", "sense")]
pearson, spearman, unknown = wv.evaluate_word_pairs("pairs.tsv")
results["pairs_file"] = [tuple(pearson), tuple(spearman), unknown]
score, sections = wv.evaluate_word_analogies("analogies.txt")
results["analogies"] = [score, [(s["section"], len(s["correct"]), len(s["incorrect"])) for s in sections]]
wv.save_word2vec_format("saved.txt", fvocab="saved.vocab")
wv.save_word2vec_format("saved.bin", binary=True)
wv.save("saved.kv")
results["opened"] = [len(KeyedVectors.load("saved.kv")), KeyedVectors.load("saved.kv").most_similar("w5", topn=2)]
again = KeyedVectors.load_word2vec_format("saved.txt", fvocab="saved.vocab", limit=10)
results["again"] = [len(again), again["w5"], again.get_vecattr("w5", "count")]
